import type { Client } from './client.ts'

/** The settings of a product as apps get them: signed whenever a trial length is configured and can be signed. */
export type Settings = {
  trial_duration_days?: number
  free_tier_enabled: boolean
  kid?: string
  issued_at?: number
  expires_at?: number
  signature?: string
}

/** The settings of the product that an app asks about, to be spread into the answer. */
export async function settingsOf({ product }: Client): Promise<Settings> {
  return { free_tier_enabled: product.freeTierEnabled }
}
