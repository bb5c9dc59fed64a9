import { revealSdkKey } from '../../src/commands/client-keys.ts'
import type { Answer, Ask } from '../harness/api.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

/** The tenant's SDK key, its first if it has none yet. */
export const sdkKeyOf = ({ services }: Pick<TestLedger, 'services'>, tenantId: string): Promise<string> =>
  revealSdkKey(services, tenantId, 'sdk-key-of-a-test', origin)

type ClientCall = 'activate' | 'validate' | 'deactivate' | 'free-tier' | 'keyless'

/** An app of a vendor's customer, which knows where it belongs and the SDK key that it was shipped with. */
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
