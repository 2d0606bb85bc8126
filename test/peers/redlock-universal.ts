// Here, and not where it is used, so that the package is found in this folder's node_modules.
export { createLock, IoredisAdapter } from 'redlock-universal';
