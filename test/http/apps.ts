import { revealSdkKey } from '../../src/commands/client-keys.ts'
import type { Answer, Ask } from '../harness/api.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

/** The tenant's SDK key; creates the first one if there is none. */
export const sdkKeyOf = ({ ports }: Pick<TestLedger, 'ports'>, tenantId: string): Promise<string> =>
  revealSdkKey(ports, tenantId, 'sdk-key-of-a-test', origin)

type ClientCall = 'activate' | 'validate' | 'deactivate' | 'free-tier' | 'keyless'

/** An app of a vendor's customer, with its tenant, its product and the SDK key that it ships with. */
export type App = {
  post(call: ClientCall, body: object): Promise<Answer>
  config(): Promise<Answer>
}

export function appOf(ask: Ask, place: { tenantId: string; productId: string }, sdkKey: string): App {
  const headers = { 'x-service-sdk-key': sdkKey }
  const at = `/${place.tenantId}/${place.productId}`
  return {
    post: (call, body) => ask('POST', `${at}/${call}`, { headers, body }),
    config: () => ask('GET', `${at}/config`, { headers }),
  }
}
