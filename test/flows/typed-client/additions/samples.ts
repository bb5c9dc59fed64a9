import { activateDevice, getSdkKey, mintLicense, verifyToken } from '../client/index.ts'
import { approved, expect } from '../program.ts'

/** Mints a license of the shop's product. */
export async function mint(email: string, metadata: Record<string, string> = {}) {
  const { data } = await mintLicense({
    body: { productId: 'editor', keyTypeId: 'monthly', email, metadata },
    throwOnError: true,
  })
  return data
}

/** Asks for a seat for a device. @returns what an app is answered */
export async function activate(licenseKey: string, deviceId: string) {
  const { data } = await activateDevice({
    body: { product_id: 'editor', license_key: licenseKey, device_id: deviceId, name: deviceId },
    throwOnError: true,
  })
  return data
}

/** What an app of the shop's product calls with. */
export async function appOf(productId: string) {
  const { sdkKey } = await approved((headers) => getSdkKey({ headers }))
  const { data } = await verifyToken()
  const { tenantId } = expect('the token is known', data, (answer) => answer.tenantId !== '')
  return { path: { tenantId, productId }, auth: sdkKey }
}
