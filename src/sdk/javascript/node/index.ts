/**
 * For the app client in Node and Electron: keeps what the app has to remember in a file, identifies the device, and finds the
 * relays of its network.
 */
export { fileJournal } from './file-journal.ts'
export { fileStorage } from './file-storage.ts'
export { findRelays, type Network } from './find-relays.ts'
export { identifyDevice } from './identify-device.ts'
export { isShared, sharedPatterns, sharedValues } from './shared-values.ts'
export type { System } from './system.ts'
