import { z } from 'zod'
import { licenseStatuses } from '../../domain/licenses/license.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { Ordering, WebhookEventName } from '../../domain/webhooks/events.ts'

/** How many names an effect holds of each list. */
export const mostNames = 20

const counted = {
  count: z.int().nonnegative(),
  counted: z.enum(['exactly', 'sampled', 'at_least']).meta({
    description:
      'When there are more than a preview counts, `sampled` is an estimate from a sample, and `at_least` where the count stopped',
  }),
}

/** How many there are, exactly or estimated. */
export const Counted = z.object(counted)
export type Counted = z.infer<typeof Counted>

export const exactly = (count: number): Counted => ({ count, counted: 'exactly' })

const first = { description: `At most ${mostNames} of them` }

const StatusChange = z.object({
  id: z.string(),
  displayKey: z.string(),
  from: z.enum(licenseStatuses),
  to: z.enum(licenseStatuses),
})
export type StatusChange = z.infer<typeof StatusChange>

const AffectedDevice = z.object({ licenseId: z.string(), deviceId: z.string(), name: z.string() })
export type AffectedDevice = z.infer<typeof AffectedDevice>

const devices = z.object({ ...counted, first: z.array(AffectedDevice).meta(first) })

const entitlements = z
  .array(
    z.object({ entitlement: z.string(), licenses: Counted.meta({ description: 'Of how many licenses' }) }),
  )
  .meta({ id: 'EffectEntitlements' })
export type EntitlementChange = z.infer<typeof entitlements>[number]

const WebhookCall = z.object({
  event: WebhookEventName,
  endpointId: z.string(),
  host: z.string(),
  count: z.int().positive(),
})
export type WebhookCall = z.infer<typeof WebhookCall>

const events = z.array(WebhookEventName)
const endpoint = { endpointId: z.string(), host: z.string() }
const pendingDeliveries = Counted.meta({ description: 'Deliveries to it that wait for their next attempt' })
const keyType = { productId: z.string(), keyTypeId: z.string() }
const live = Counted.meta({ description: 'Licenses of it that are neither revoked nor expired' })
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

/** A change that is not about the state of a license. */
const Fact = z
  .discriminatedUnion('what', [
    z.object({
      what: z.literal('token_revoked'),
      tokenId: z.string(),
      name: z.string(),
      worked: z.boolean().meta({ description: 'false: it had expired, or its member was removed' }),
    }),
    z.object({ what: z.literal('endpoint_added'), host: z.string(), events, ordering: Ordering }),
    z.object({
      what: z.literal('endpoint_changed'),
      ...endpoint,
      to: z.string().meta({ description: 'The host after the change' }),
      urlChanges: z.boolean(),
      eventsAppearing: events,
      eventsDisappearing: events,
      ordering: Ordering.nullable().meta({ description: 'Null when it stays' }),
      paused: z.boolean().meta({ description: 'Whether deliveries wait after the change' }),
      pendingDeliveries,
    }),
    z.object({ what: z.literal('endpoint_removed'), ...endpoint, pendingDeliveries }),
    z.object({ what: z.literal('endpoint_secret_replaced'), ...endpoint }),
    z.object({ what: z.literal('key_type_deleted'), ...keyType, live, ended: Counted }),
    z.object({
      what: z.literal('key_type_changed'),
      ...keyType,
      live,
      newLicenses: z
        .array(z.object({ field: z.string(), from: scalar, to: scalar }))
        .meta({ description: 'Terms that only licenses issued from now on get' }),
    }),
    z.object({
      what: z.literal('person_erased'),
      licenses: Counted,
      customers: Counted,
      sales: Counted,
    }),
    z.object({ what: z.literal('licenses_exported'), licenses: Counted }),
    z.object({ what: z.literal('sdk_key_shown'), displayKey: z.string() }),
    z.object({ what: z.literal('sdk_key_created') }),
    z.object({ what: z.literal('sdk_key_replaced'), displayKey: z.string() }),
    z.object({ what: z.literal('provider_secret_replaced'), provider: z.string(), products: z.int() }),
    z.object({
      what: z.literal('recorded'),
      stream: z.string().meta({ example: 'license-lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
      events: z.array(z.string()).meta({ description: 'The events that the call would record there' }),
    }),
  ])
  .meta({ id: 'EffectFact' })
export type Fact = z.infer<typeof Fact>

/** What an operation would change, by the decision that it would make on the present state. It holds no secrets. */
export const Effect = z.object({
  licenses: z
    .object({ ...counted, first: z.array(StatusChange).meta(first) })
    .meta({ description: 'Licenses whose status changes' }),
  devicesLosing: devices.meta({ description: 'Devices that lose their seat, or whose license stops' }),
  devicesGaining: devices.meta({ description: 'Devices that get a seat, or whose license works again' }),
  entitlementsAppearing: entitlements,
  entitlementsDisappearing: entitlements,
  webhooks: z.array(WebhookCall).meta({ description: 'Webhook deliveries that would go out' }),
  also: z.array(Fact).meta({ description: 'Everything else that changes' }),
})
export type Effect = z.infer<typeof Effect>

const noEffect: Effect = {
  licenses: { ...exactly(0), first: [] },
  devicesLosing: { ...exactly(0), first: [] },
  devicesGaining: { ...exactly(0), first: [] },
  entitlementsAppearing: [],
  entitlementsDisappearing: [],
  webhooks: [],
  also: [],
}

/** What an operation would do now: change something, or be refused. */
export type Preview = { effect: Effect; refusal: RefusalCode | null }

/** The effect, or the refusal without an effect. @throws what is no refusal */
export async function previewOf(effect: () => Promise<Effect>): Promise<Preview> {
  try {
    return { effect: await effect(), refusal: null }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { effect: noEffect, refusal: error.code }
  }
}
