import type { RelayKey } from '../key.ts'
import type { Relay } from '../relay.ts'
import type { Database } from '../store/database.ts'

/** A relay that is served, with everything that its routes use. */
export type RelayProgram = {
  relay: Relay
  key: RelayKey
  database: Database
  /** Gets every failure that is not the caller's. */
  onError: (error: unknown) => void
}

export type RelayAnswer = { status: number; headers: Record<string, string>; body?: string | Buffer }

export const json = (body: object, headers: Record<string, string> = {}): RelayAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(body),
})
