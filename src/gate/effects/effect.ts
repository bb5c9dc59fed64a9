import { z } from 'zod'
import { licenseStatuses } from '../../domain/licenses/status.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { Ordering, WebhookEventName } from '../../domain/webhooks/events.ts'

/** How many names an effect holds of each list. */
export const mostNames = 20

const counted = {
  count: z.int().nonnegative().meta({ description: 'How many there are', example: 1 }),
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
  id: z.string().meta({ description: 'The id of the license', example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
  displayKey: z.string(),
  from: z.enum(licenseStatuses).meta({ description: 'Its status before', example: 'active' }),
  to: z.enum(licenseStatuses).meta({ description: 'Its status after', example: 'suspended' }),
})
export type StatusChange = z.infer<typeof StatusChange>

const AffectedDevice = z.object({
  licenseId: z.string(),
  deviceId: z.string(),
  name: z.string().meta({ description: 'The label of the device', example: 'MacBook' }),
})
export type AffectedDevice = z.infer<typeof AffectedDevice>

const devices = z.object({ ...counted, first: z.array(AffectedDevice).meta(first) })

const entitlements = z
  .array(
    z.object({ entitlement: z.string(), licenses: Counted.meta({ description: 'Of how many licenses' }) }),
  )
  .meta({
    id: 'EffectEntitlements',
    description: 'Entitlements that licenses gain or lose, each with the number of these licenses',
    example: [],
  })
export type EntitlementChange = z.infer<typeof entitlements>[number]

const WebhookCall = z.object({
  event: WebhookEventName,
  endpointId: z.string(),
  host: z.string(),
  count: z.int().positive().meta({ description: 'How many of these events it gets', example: 1 }),
})
export type WebhookCall = z.infer<typeof WebhookCall>

const eventsOf = (description: string) => z.array(WebhookEventName).meta({ description })
const endpoint = { endpointId: z.string(), host: z.string() }
const pendingDeliveries = Counted.meta({ description: 'Deliveries to it that wait for their next attempt' })
const keyType = { productId: z.string(), keyTypeId: z.string() }
const kindOf = <const What extends string>(what: What) =>
  z.literal(what).meta({ description: 'What kind of change this is; the other fields depend on it' })
const live = Counted.meta({ description: 'Licenses of it that are neither revoked nor expired' })
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
const sdkKey = z.string().meta({ description: 'The SDK key, masked', example: 'kl_sdk_…4fT9' })

/** The categories whose streams have an id of the server's choice. */
export const CreatedCategory = z.enum(['customer', 'license', 'notice', 'replay', 'reseller'])
export type CreatedCategory = z.infer<typeof CreatedCategory>

/** A change that is not about the state of a license. */
const Fact = z
  .discriminatedUnion('what', [
    z.object({
      what: kindOf('token_revoked'),
      tokenId: z.string(),
      name: z.string().meta({ description: 'The name that the token was given', example: 'CI' }),
      worked: z.boolean().meta({ description: 'false: it had expired, or its member was removed' }),
    }),
    z.object({
      what: kindOf('endpoint_added'),
      host: z.string(),
      events: eventsOf('The events that it gets'),
      ordering: Ordering.meta({ description: 'The order in which it gets them' }),
    }),
    z.object({
      what: kindOf('endpoint_changed'),
      ...endpoint,
      to: z.string().meta({ description: 'The host after the change' }),
      urlChanges: z.boolean().meta({ description: 'Whether deliveries go to another URL' }),
      eventsAppearing: eventsOf('The events that it gets after the change and does not get now'),
      eventsDisappearing: eventsOf('The events that it no longer gets'),
      ordering: Ordering.nullable().meta({ description: 'The order after the change; null when it stays' }),
      paused: z.boolean().meta({ description: 'Whether deliveries wait after the change' }),
      pendingDeliveries,
    }),
    z.object({ what: kindOf('endpoint_removed'), ...endpoint, pendingDeliveries }),
    z.object({ what: kindOf('endpoint_secret_replaced'), ...endpoint }),
    z.object({
      what: kindOf('key_type_deleted'),
      ...keyType,
      live,
      ended: Counted.meta({ description: 'Licenses of it that are revoked or expired' }),
    }),
    z.object({
      what: kindOf('key_type_changed'),
      ...keyType,
      live,
      newLicenses: z
        .array(
          z.object({
            field: z.string().meta({ description: 'The field of the key type', example: 'deviceLimit' }),
            from: scalar.meta({ description: 'Its value now' }),
            to: scalar.meta({ description: 'Its value after the change' }),
          }),
        )
        .meta({ description: 'Terms that only licenses issued from now on get' }),
      values: z
        .array(
          z.object({
            entitlement: z.string(),
            from: scalar.meta({ description: 'The value now; null for none' }),
            to: scalar.meta({ description: 'The value after the change; null for none' }),
          }),
        )
        .optional()
        .meta({
          description: 'Values of entitlements that all licenses of it get. Absent when no value changes',
        }),
      meters: z
        .object({
          from: scalar.meta({ description: 'The meters now; null for none' }),
          to: scalar.meta({ description: 'The meters after the change; null for none' }),
        })
        .optional()
        .meta({ description: 'What is metered for all licenses of it. Absent when it stays' }),
    }),
    z.object({
      what: kindOf('person_erased'),
      licenses: Counted.meta({ description: 'The licenses of the person' }),
      customers: Counted.meta({ description: 'The customers with the address of the person' }),
      sales: Counted.meta({ description: 'The sales to the person' }),
    }),
    z.object({
      what: kindOf('licenses_exported'),
      licenses: Counted.meta({ description: 'The licenses in the export' }),
    }),
    z.object({ what: kindOf('sdk_key_shown'), displayKey: sdkKey }),
    z.object({ what: kindOf('sdk_key_created') }),
    z.object({ what: kindOf('sdk_key_replaced'), displayKey: sdkKey }),
    z.object({
      what: kindOf('provider_secret_replaced'),
      provider: z.string(),
      products: z.int().meta({ description: 'How many products are mapped to it' }),
    }),
    z.object({
      what: kindOf('recorded'),
      stream: z
        .string()
        .meta({ description: 'The stream of the log', example: 'license-lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
      events: z.array(z.string()).meta({ description: 'The events that the call would record there' }),
    }),
    z.object({
      what: kindOf('created'),
      category: CreatedCategory.meta({ description: 'Its id exists only once it is created' }),
      count: z.int().positive().meta({ description: 'How many would be created', example: 1 }),
      events: z.array(z.string()).meta({ description: 'The events that the call would record of them' }),
    }),
    z.object({
      what: kindOf('rows_skipped'),
      duplicate: z.int().nonnegative().meta({ description: 'Rows whose key a license has, or once had' }),
      invalid: z.int().nonnegative().meta({ description: 'Rows that are invalid' }),
      first: z
        .array(
          z.object({
            index: z.int().meta({ description: 'The index of the row, from 0' }),
            error: z.string().meta({ description: 'Why the row is invalid' }),
          }),
        )
        .meta({ description: `Why rows are invalid, at most ${mostNames} of them` }),
    }),
  ])
  .meta({ id: 'EffectFact', description: 'A change that is not about the state of a license' })
export type Fact = z.infer<typeof Fact>

/** What an operation would change, by the decision that it would make on the present state. It holds no secrets. */
export const Effect = z
  .object({
    licenses: z
      .object({ ...counted, first: z.array(StatusChange).meta(first) })
      .meta({ description: 'Licenses whose status changes' }),
    devicesLosing: devices.meta({ description: 'Devices that lose their seat, or whose license stops' }),
    devicesGaining: devices.meta({
      description: 'Devices that get a seat, or whose license works again',
      example: { count: 0, counted: 'exactly', first: [] },
    }),
    entitlementsAppearing: entitlements,
    entitlementsDisappearing: entitlements,
    webhooks: z.array(WebhookCall).meta({ description: 'Webhook deliveries that would go out', example: [] }),
    also: z.array(Fact).meta({ description: 'Everything else that changes', example: [] }),
  })
  .meta({ id: 'Effect', description: 'What a call would change, by the present state' })
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
