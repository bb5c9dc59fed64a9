/** What an app uses under the meters of its license: exact, once, and also without a network. */
export { createMeters, type DeviceMeter, type DeviceMeters, type MeterOptions } from './meters.ts'
export type { RefusedUse, Reported } from './reporting.ts'
export { type JournalStorage, memoryJournal, type Stored } from './storage.ts'
export type { Reserved, Used, UseOptions } from './using.ts'
