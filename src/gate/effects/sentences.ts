import type { CustomRoleEvent } from '../../domain/custom-roles/events.ts'
import { givesSeats } from '../../domain/licenses/status.ts'
import { plainText, quoted } from '../../domain/plain-text.ts'
import type { ResellerEvent } from '../../domain/resellers/events.ts'
import type { ScimEvent } from '../../domain/scim/events.ts'
import type { SignInProviderEvent } from '../../domain/sign-in-providers/events.ts'
import type { Ordering, WebhookEventName } from '../../domain/webhooks/events.ts'
import { capitalized, counted as withWords } from '../../sentence.ts'
import type { Counted, CreatedCategory, Effect, EntitlementChange, Fact } from './effect.ts'

/** The effect in sentences; none when nothing changes. Names from outside are quoted and plain. */
export function effectWords(effect: Effect): string[] {
  return [
    ...statusWords(effect),
    ...deviceWords(effect.devicesLosing, 'device loses its seat', 'devices lose their seats'),
    ...deviceWords(effect.devicesGaining, 'device gets its seat', 'devices get their seats'),
    ...keyWords(effect),
    ...effect.entitlementsDisappearing.map((change) => entitlementWords(change, 'loses', 'lose')),
    ...effect.entitlementsAppearing.map((change) => entitlementWords(change, 'gets', 'get')),
    ...effect.also.flatMap(factWords),
    ...effect.webhooks.map(
      ({ event, host, count }) => `${withWords(count, 'webhook', 'webhooks')} ${event} to ${host}`,
    ),
  ].map((sentence) => plainText(capitalized(sentence)))
}

/**
 * The sentences without counts that change by themselves, such as those of an export: a member approves what these
 * say, whatever was minted meanwhile.
 */
export const steadyWords = (effect: Effect): string[] =>
  effectWords({ ...effect, also: effect.also.map(withoutCounts) })

function withoutCounts(fact: Fact): Fact {
  const none: Counted = { count: 0, counted: 'exactly' }
  switch (fact.what) {
    case 'licenses_exported':
      return { ...fact, licenses: none }
    case 'endpoint_changed':
    case 'endpoint_removed':
      return { ...fact, pendingDeliveries: none }
    default:
      return fact
  }
}

function statusWords({ licenses }: Effect): string[] {
  const { count, first } = licenses
  const [one] = first
  if (one === undefined) return []
  if (count === 1) return [`License ${one.displayKey} goes from ${one.from} to ${one.to}`]
  const names = first.map(({ displayKey, from, to }) => `${displayKey} from ${from} to ${to}`)
  return [`${many(licenses, 'license changes', 'licenses change')} status: ${and(names, count)}`]
}

/** Said where every license that changes has a key that was valid. */
function keyWords({ licenses: { count, first } }: Effect): string[] {
  if (count === 0 || !first.every(({ from, to }) => givesSeats(from) && !givesSeats(to))) return []
  return [count === 1 ? 'Its key stops validating at once' : 'Their keys stop validating at once']
}

function deviceWords(devices: Effect['devicesLosing'], one: string, several: string): string[] {
  const { count, first } = devices
  if (count === 0) return []
  const names = first.map(({ name, deviceId }) => quoted(name === '' ? deviceId : name))
  return [`${many(devices, one, several)}: ${and(names, count)}`]
}

const entitlementWords = (
  { entitlement, licenses }: EntitlementChange,
  one: string,
  several: string,
): string => `${many(licenses, `license ${one}`, `licenses ${several}`)} ${quoted(entitlement)}`

/** The first names, and how many more there are. */
function and(names: readonly string[], count: number): string {
  const more = count - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more.toLocaleString('en-US')} more` : ''}`
}

/** A count that says when it is an estimate. */
function many({ count, counted }: Counted, one: string, several: string): string {
  const words = withWords(count, one, several)
  if (counted === 'exactly') return words
  return counted === 'sampled' ? `about ${words}` : `at least ${words}`
}

function factWords(fact: Fact): string[] {
  switch (fact.what) {
    case 'token_revoked':
      return [
        fact.worked
          ? `API token ${quoted(fact.name)} stops working at once`
          : `API token ${quoted(fact.name)} is revoked; it has already stopped working`,
        'This cannot be undone',
      ]
    case 'endpoint_added':
    case 'endpoint_changed':
    case 'endpoint_removed':
    case 'endpoint_secret_replaced':
      return endpointWords(fact)
    case 'key_type_deleted':
    case 'key_type_changed':
      return keyTypeWords(fact)
    case 'person_erased':
      return [
        `Personal data is erased from ${many(fact.licenses, 'license', 'licenses')}, ${many(fact.customers, 'customer', 'customers')} and ${many(fact.sales, 'sale', 'sales')}, which keep working`,
        'The email address and name become unreadable everywhere, at once',
        'The payment notifications and stored emails of the person are destroyed',
        'This cannot be undone',
      ]
    case 'licenses_exported':
      return [
        fact.licenses.count === 0
          ? 'No license is exported'
          : many(
              fact.licenses,
              "license is exported with its customer's email address",
              "licenses are exported with their customers' email addresses",
            ),
        'License keys are masked and cannot be used',
        'Licenses that are added to this selection after the approval are not exported',
      ]
    case 'sdk_key_shown':
    case 'sdk_key_created':
    case 'sdk_key_replaced':
      return sdkKeyWords(fact)
    case 'recorded':
      // No call of the API changes the rule, and its other change needs no approval.
      if (fact.events.includes('ApprovalRuleChanged'))
        return [
          'Each owner, admin and approver can then approve their own dangerous requests, including pending ones',
        ]
      return fact.events.every((type) => recordedWords.has(type))
        ? fact.events.map((type) => recordedWords.get(type) ?? '')
        : [`Records ${fact.events.join(', ')} in ${fact.stream}`]
    case 'created':
      return [`Creates ${withWords(fact.count, ...createdNames[fact.category])}`]
    case 'rows_skipped':
      return skippedWords(fact)
    case 'provider_secret_replaced':
      return [
        `The current secret of ${fact.provider} stops working; ${withWords(fact.products, 'product is', 'products are')} sold through it`,
        fact.provider === 'gumroad'
          ? "Sales are lost until you enter the new ping URL, which is shown once, in gumroad's settings"
          : `Notifications that ${fact.provider} signs with the current secret are rejected at once`,
      ]
  }
}

/** What the events about how members come and sign in mean, and those about resellers. */
const recordedWords: ReadonlyMap<string, string> = new Map<
  CustomRoleEvent['type'] | SignInProviderEvent['type'] | ScimEvent['type'] | ResellerEvent['type'],
  string
>([
  [
    'SignInProviderAdded',
    'People whom the provider vouches for can sign in with it, with the roles that it gives',
  ],
  [
    'SignInProviderChanged',
    'Who signs in with the provider, and with which role, follows the new settings at once',
  ],
  ['SignInProviderSecretReplaced', 'The client secret is replaced'],
  [
    'ScimSettingsChanged',
    'Members of the directory get the roles of their groups at once, or lose their access',
  ],
  [
    'SignInProviderRemoved',
    'No one can sign in with the provider any more, and sessions that were started with it end',
  ],
  ['CustomRoleAdded', 'Owners can give members the new role'],
  [
    'CustomRoleChanged',
    'Members with the role, and the API tokens that they created, have its new scopes from their next request on',
  ],
  ['CustomRoleRemoved', 'The role can no longer be given'],
  ['ResellerChanged', 'The name and the quotas of the reseller become the new ones'],
  ['ResellerLicenseTaken', 'One license of the quota is used'],
  [
    'ResellerClosed',
    'The API tokens and the members of the reseller reach nothing any more, for good; their customers and licenses stay',
  ],
])

function keyTypeWords(fact: Extract<Fact, { what: `key_type_${string}` }>): string[] {
  switch (fact.what) {
    case 'key_type_deleted':
      return [
        `Key type ${quoted(fact.keyTypeId)} of ${quoted(fact.productId)} is deleted and can no longer be minted or sold; ${many(fact.live, 'live license uses', 'live licenses use')} it, and ${many(fact.ended, 'ended one keeps', 'ended ones keep')} its entitlements`,
      ]
    case 'key_type_changed':
      return [
        `Key type ${quoted(fact.keyTypeId)} of ${quoted(fact.productId)} changes; ${many(fact.live, 'live license uses', 'live licenses use')} it`,
        ...fact.newLicenses.map(
          ({ field, from, to }) =>
            `${fieldNames[field] ?? field} of new licenses: ${termWords(from)} becomes ${termWords(to)}`,
        ),
        ...(fact.values ?? []).map(valueWords),
        ...(fact.meters
          ? [
              `Meters of its licenses: ${termWords(fact.meters.from)} becomes ${termWords(fact.meters.to)}; what was used stays counted`,
            ]
          : []),
        ...keptWords(fact),
      ]
  }
}

function sdkKeyWords(fact: Extract<Fact, { what: `sdk_key_${string}` }>): string[] {
  switch (fact.what) {
    case 'sdk_key_shown':
      return [`The SDK key ${fact.displayKey} is returned once, to the requester, and does not change`]
    case 'sdk_key_created':
      return ['The first SDK key is created and returned once, to the requester']
    case 'sdk_key_replaced':
      return [
        `The SDK key ${fact.displayKey} stops working: apps that were built with it are rejected`,
        'The new key is returned once, to the requester',
      ]
  }
}

/** A license has its own terms from its issue; the price is none of them. */
const keptWords = ({ live, newLicenses }: Extract<Fact, { what: 'key_type_changed' }>): string[] =>
  live.count === 0 || newLicenses.every(({ field }) => field === 'price')
    ? []
    : [
        `${many(live, 'live license keeps its terms', 'live licenses keep their terms')} until the plan or quantity of a subscription changes`,
      ]

const createdNames: Record<CreatedCategory, [one: string, several: string]> = {
  customer: ['customer', 'customers'],
  license: ['license', 'licenses'],
  notice: ['link of a sale', 'links of sales'],
  replay: ['webhook replay', 'webhook replays'],
  reseller: ['reseller', 'resellers'],
}

function skippedWords({ duplicate, invalid, first }: Extract<Fact, { what: 'rows_skipped' }>): string[] {
  return [
    ...(duplicate > 0 ? [`${withWords(duplicate, 'row is a duplicate', 'rows are duplicates')}`] : []),
    ...(invalid > 0 ? [`${withWords(invalid, 'row is', 'rows are')} invalid`] : []),
    ...first.map(({ index, error }) => `Row ${index} is invalid: ${quoted(error)}`),
  ]
}

const fieldNames: Record<string, string> = {
  deviceLimit: 'Device limit',
  duration: 'Term',
  startsAt: 'Start of the term',
  graceSeconds: 'Grace in seconds',
  onExpiry: 'What happens on expiry',
  sellInMultiples: 'Selling in multiples',
  maxQuantity: 'Largest quantity',
  price: 'Price',
  updates: 'Updates',
  offlineFiles: 'License files',
  floatingSeats: 'Floating seats',
  namedSeats: 'Named seats',
}

type Scalar = string | number | boolean | null

const termWords = (term: Scalar): string => (term === null ? 'none' : String(term))

const valueWords = ({ entitlement, from, to }: { entitlement: string; from: Scalar; to: Scalar }): string => {
  const [before, after] = [from, to].map((value) =>
    typeof value === 'string' ? quoted(value) : termWords(value),
  )
  return `Value of ${quoted(entitlement)} for its licenses: ${before} becomes ${after}`
}

const keysIn = (events: readonly WebhookEventName[]): string[] =>
  events.includes('license.created') ? ['Each license.created contains the raw license key of its sale'] : []

const orderWords: Record<Ordering, string> = {
  license: 'The events of each license are sent in order',
  none: 'Events are sent as fast as possible and can arrive out of order',
}

function endpointWords(fact: Extract<Fact, { what: `endpoint_${string}` }>): string[] {
  switch (fact.what) {
    case 'endpoint_added':
      return [
        `New webhook deliveries go to ${fact.host}: ${fact.events.join(', ')}`,
        ...keysIn(fact.events),
        ...(fact.ordering === 'none' ? [orderWords.none] : []),
        'Its signing secret is returned once, to the requester',
      ]
    case 'endpoint_changed':
      return changedEndpointWords(fact)
    case 'endpoint_removed':
      return [
        `Webhook deliveries to ${fact.host} stop`,
        ...waiting(fact.pendingDeliveries, 'waiting delivery is', 'waiting deliveries are', 'abandoned'),
        'Its signing secret is destroyed',
      ]
    case 'endpoint_secret_replaced':
      return [
        `The signing secret of the webhook endpoint at ${fact.host} is replaced; the current one also signs for another 24 hours`,
        'The new secret is returned once, to the requester',
      ]
  }
}

function changedEndpointWords(fact: Extract<Fact, { what: 'endpoint_changed' }>): string[] {
  const { host, to, urlChanges, eventsAppearing, eventsDisappearing, ordering, paused, pendingDeliveries } =
    fact
  return [
    `The webhook endpoint at ${host} changes${paused ? '; its deliveries wait' : ''}`,
    ...(urlChanges
      ? [
          to === host
            ? `Webhook deliveries go to another URL at ${host}`
            : `Webhook deliveries go to ${to} instead of ${host}`,
          ...waiting(
            pendingDeliveries,
            'waiting delivery goes',
            'waiting deliveries go',
            'to the new URL too',
          ),
        ]
      : []),
    ...(eventsAppearing.length > 0 ? [`Events that it gets from now on: ${eventsAppearing.join(', ')}`] : []),
    ...keysIn(eventsAppearing),
    ...(eventsDisappearing.length > 0
      ? [`Events that it no longer gets: ${eventsDisappearing.join(', ')}`]
      : []),
    ...(ordering === null ? [] : [orderWords[ordering]]),
  ]
}

const waiting = (pending: Counted, one: string, several: string, what: string): string[] =>
  pending.count === 0 ? [] : [`${many(pending, one, several)} ${what}`]
