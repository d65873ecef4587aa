// planted: lint/style/noRestrictedImports
export { launch } from './backend/launch.js';
