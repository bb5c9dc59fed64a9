/** The client for apps on machines without a network: license files, which are carried there as texts. */
export {
  type Carried,
  createOfflineClient,
  type Imported,
  type OfflineClient,
  type OfflineOptions,
} from './client.ts'
export type { FileRefusal } from './read.ts'
export type { OfflineState } from './state.ts'
