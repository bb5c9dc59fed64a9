import { type DeliveryContent, readContent } from '../../projections/deliveries/content.ts'
import { saleKeyName } from '../commands/sale-key.ts'
import type { Services } from '../commands/services.ts'
import type { KnownDelivery } from '../domain/delivery/delivery.ts'
import { unixSeconds } from '../domain/license/expiry.ts'
import { type Payload, payloadVersion } from './payloads.ts'

/** What is sent, and what of it an answer must not repeat into the log. */
export type PublicEvent = { payload: Payload; confidential: readonly string[] }

/**
 * What a delivery says, made afresh for each try out of what is recorded: the same every time, until the customer is
 * erased. The key of a sale is in it as long as it is kept, which is until its deliveries have ended.
 */
export async function publicEventOf(services: Services, delivery: KnownDelivery): Promise<PublicEvent> {
  const { tenantId, licenseId, licenseRevision, deliveryId, event, sequence } = delivery
  const content = await readContent(services.db, licenseId, licenseRevision)
  if (!content) throw new Error(`${licenseId} has no event at ${licenseRevision}`)
  const { issued } = content
  const [person] = await services.subjects.openPeople(tenantId, [issued.holder])
  const key =
    event === 'license.created' ? await services.secrets.open(tenantId, saleKeyName(licenseId)) : undefined
  const email = person?.email ?? null
  const payload: Payload = {
    id: deliveryId,
    created: unixSeconds(content.at),
    version: payloadVersion,
    event,
    tenant_id: tenantId,
    license_id: licenseId,
    product_id: issued.productId,
    key_type_id: issued.keyTypeId,
    customer_email: email,
    sequence: sequence ?? 1,
    ...particulars(content, key),
  }
  return { payload, confidential: [key, email, person?.name].filter((text) => typeof text === 'string') }
}

/** What an event says beside what all say. */
function particulars({ event, issued, deviceName, sessionId }: DeliveryContent, key: string | undefined) {
  switch (event.type) {
    case 'LicenseMinted':
      return { key: key ?? null, session_id: sessionId ?? issued.saleId }
    case 'DeviceActivated':
      return {
        device_id: event.data.deviceId,
        instance_id: event.data.instanceId,
        device_name: event.data.name,
      }
    case 'DeviceDeactivated':
      return {
        device_id: event.data.deviceId,
        instance_id: event.data.instanceId,
        device_name: deviceName ?? '',
      }
    case 'LicenseRefunded':
      return { sale_id: event.data.saleId, amount: event.data.amount, currency: event.data.currency }
    case 'LicenseRenewed':
      return { expires_at: unixSeconds(event.data.expiresAt) }
    default:
      return {}
  }
}

/** The same as it may be shown again, with the key masked as licenses show it. */
export async function shownPayload(services: Services, delivery: KnownDelivery): Promise<Payload> {
  const content = await readContent(services.db, delivery.licenseId, delivery.licenseRevision)
  const { payload } = await publicEventOf(services, delivery)
  return 'key' in payload ? { ...payload, key: content?.issued.displayKey ?? null } : payload
}
