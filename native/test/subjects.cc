#include "test/subjects.h"

#include <sys/prctl.h>

#include <cerrno>
#include <cstring>

#include "test/world.h"

namespace cordon::test {

void needs_release_build() {
  if (exists(CORDON_RELEASE_EXEC_PATH)) return;
  skip("release-build", "build/Release/cordon-exec (npm run build:native)");
}

void prepare_for_runs() {
  needs_landlock(1);
  CHECK_CALL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
}

}  // namespace cordon::test
