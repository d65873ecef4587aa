import { defineConfig } from 'vitest/config';
import { CountReporter } from './test/support/count-reporter.js';

/**
 * One project per kind of test. `pool: 'forks'`, because addon, umask, cwd and process groups
 * belong to a process. Projects that start confined runs take one file at a time: they measure
 * time-outs and look at the process table, and two of them on a small machine would see each other.
 */
const PROJECTS = [
  { name: 'unit', parallel: true, testTimeout: 20_000 },
  { name: 'property', parallel: true, testTimeout: 60_000 },
  { name: 'addon', parallel: false, testTimeout: 60_000 },
  { name: 'conformance', parallel: false, testTimeout: 120_000 },
  { name: 'e2e', parallel: false, testTimeout: 120_000 },
  { name: 'hostile', parallel: false, testTimeout: 120_000 },
  { name: 'smoke', parallel: false, testTimeout: 60_000 },
  // Where npm run test:container runs it: its tests are about the container.
  ...(process.env.CONTAINER_RESULTS === undefined
    ? []
    : [{ name: 'container', parallel: false, testTimeout: 120_000 }]),
] as const;

/** What kernels under emulation did is judged where they were started: scripts/kernels.mjs. */
const KERNELS = [{ name: 'kernels', parallel: false, testTimeout: 20_000 }] as const;

export default defineConfig({
  test: {
    reporters: ['default', new CountReporter()],
    passWithNoTests: false,
    projects: (process.env.KERNEL_RESULTS ? KERNELS : PROJECTS).map(
      ({ name, parallel, testTimeout }, order) => ({
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          environment: 'node',
          pool: 'forks',
          maxWorkers: parallel ? 2 : 1,
          fileParallelism: parallel,
          sequence: { groupOrder: order },
          testTimeout,
          hookTimeout: testTimeout,
          teardownTimeout: 20_000,
        },
      }),
    ),
  },
});
