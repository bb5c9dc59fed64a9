import { revealSdkKey } from '../../src/commands/client-keys.ts'
import { newLicenseKey } from '../../src/credentials/license-key.ts'
import { type Answer, type Ask, makeTenant, type TestApi } from '../harness/api.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'
import { importRows, makeProduct } from './samples.ts'

/** The tenant's SDK key; creates the first one if there is none. */
export const sdkKeyOf = ({ ports }: Pick<TestLedger, 'ports'>, tenantId: string): Promise<string> =>
  revealSdkKey(ports, tenantId, 'sdk-key-of-a-test', origin)

type ClientCall =
  | 'activate'
  | 'validate'
  | 'heartbeat'
  | 'deactivate'
  | 'consume'
  | 'uses'
  | 'allowance'
  | 'free-tier'
  | 'keyless'

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

/** An app of a tenant whose plan allows no more devices: `Device 0` to `Device 99` of one license without a limit have them. */
export async function appOnFullPlan({ ask, ledger }: TestApi): Promise<{ app: App; licenseKey: string }> {
  const { tenantId, token } = await makeTenant(ledger, 'free')
  await makeProduct(ask, token, 'editor', { keyTypes: [{ name: 'Any', deviceLimit: null }] })
  const devices = Array.from({ length: 100 }, (_, at) => ({ deviceId: `d${at}`, name: `Device ${at}` }))
  const { licenseKey } = newLicenseKey('ACME', ledger.ports.randomBytes)
  await importRows(ask, token, 'editor', [{ licenseKey, devices }])
  return { app: appOf(ask, { tenantId, productId: 'editor' }, await sdkKeyOf(ledger, tenantId)), licenseKey }
}
