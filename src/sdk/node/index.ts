/** For the app client in Node and Electron: keeps what the app has to remember in a file, and identifies the device. */
export { fileStorage } from './file-storage.ts'
export { identifyDevice } from './identify-device.ts'
export { isShared, sharedPatterns, sharedValues } from './shared-values.ts'
export type { System } from './system.ts'
