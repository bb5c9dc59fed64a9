import { plainText, quoted } from '../../domain/plain-text.ts'
import type { Ordering } from '../../domain/webhooks/events.ts'
import { capitalized } from '../../sentence.ts'
import { counted as withWords } from '../words.ts'
import type { Counted, CreatedCategory, Effect, EntitlementChange, Fact } from './effect.ts'

/** The effect in sentences; none when nothing changes. Names from outside are quoted and plain. */
export function effectWords(effect: Effect): string[] {
  return [
    ...statusWords(effect),
    ...deviceWords(effect.devicesLosing, 'device loses its seat', 'devices lose their seats'),
    ...deviceWords(effect.devicesGaining, 'device gets its seat', 'devices get their seats'),
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
          ? `API token ${quoted(fact.name)} stops working`
          : `API token ${quoted(fact.name)} is revoked; it has already stopped working`,
      ]
    case 'endpoint_added':
      return [
        `New webhook deliveries go to ${fact.host}: ${fact.events.join(', ')}`,
        ...(fact.ordering === 'none' ? [orderWords.none] : []),
      ]
    case 'endpoint_changed':
      return endpointWords(fact)
    case 'endpoint_removed':
      return [
        `Webhook deliveries to ${fact.host} stop`,
        ...waiting(fact.pendingDeliveries, 'waiting delivery is', 'waiting deliveries are', 'abandoned'),
      ]
    case 'endpoint_secret_replaced':
      return [`The signing secret of the webhook endpoint at ${fact.host} is replaced`]
    case 'key_type_deleted':
      return [
        `Key type ${quoted(fact.keyTypeId)} of ${quoted(fact.productId)} is deleted; ${many(fact.live, 'live license uses', 'live licenses use')} it, and ${many(fact.ended, 'ended one keeps', 'ended ones keep')} its entitlements`,
      ]
    case 'key_type_changed':
      return [
        `Key type ${quoted(fact.keyTypeId)} of ${quoted(fact.productId)} changes; ${many(fact.live, 'live license uses', 'live licenses use')} it`,
        ...fact.newLicenses.map(
          ({ field, from, to }) =>
            `${fieldNames[field] ?? field} of new licenses: ${termWords(from)} becomes ${termWords(to)}`,
        ),
      ]
    case 'person_erased':
      return [
        `Personal data is erased from ${many(fact.licenses, 'license', 'licenses')}, ${many(fact.customers, 'customer', 'customers')} and ${many(fact.sales, 'sale', 'sales')}`,
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
      ]
    case 'sdk_key_shown':
      return [`The SDK key ${fact.displayKey} is shown and does not change`]
    case 'sdk_key_created':
      return ['The first SDK key is created']
    case 'sdk_key_replaced':
      return [`The SDK key ${fact.displayKey} stops working`]
    case 'recorded':
      return [`Records ${fact.events.join(', ')} in ${fact.stream}`]
    case 'created':
      return [`Creates ${withWords(fact.count, ...createdNames[fact.category])}`]
    case 'rows_skipped':
      return skippedWords(fact)
    case 'provider_secret_replaced':
      return [
        `The current secret of ${fact.provider} stops working; ${withWords(fact.products, 'product is', 'products are')} sold through it`,
      ]
  }
}

const createdNames: Record<CreatedCategory, [one: string, several: string]> = {
  customer: ['customer', 'customers'],
  license: ['license', 'licenses'],
  notice: ['link of a sale', 'links of sales'],
  replay: ['webhook replay', 'webhook replays'],
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
  onExpiry: 'What happens on expiry',
  sellInMultiples: 'Selling in multiples',
  maxQuantity: 'Largest quantity',
  price: 'Price',
}

const termWords = (term: string | number | boolean | null): string => (term === null ? 'none' : String(term))

const orderWords: Record<Ordering, string> = {
  license: 'The events of each license are sent in order',
  none: 'Events are sent as fast as possible and can arrive out of order',
}

function endpointWords(fact: Extract<Fact, { what: 'endpoint_changed' }>): string[] {
  const { host, to, urlChanges, eventsAppearing, eventsDisappearing, ordering, paused, pendingDeliveries } =
    fact
  return [
    `The webhook endpoint at ${host} changes${paused ? '; its deliveries wait' : ''}`,
    ...(urlChanges
      ? [
          `Webhook deliveries go to ${to} instead of ${host}`,
          ...waiting(
            pendingDeliveries,
            'waiting delivery goes',
            'waiting deliveries go',
            'to the new URL too',
          ),
        ]
      : []),
    ...(eventsAppearing.length > 0 ? [`Events that it gets from now on: ${eventsAppearing.join(', ')}`] : []),
    ...(eventsDisappearing.length > 0
      ? [`Events that it no longer gets: ${eventsDisappearing.join(', ')}`]
      : []),
    ...(ordering === null ? [] : [orderWords[ordering]]),
  ]
}

const waiting = (pending: Counted, one: string, several: string, what: string): string[] =>
  pending.count === 0 ? [] : [`${many(pending, one, several)} ${what}`]
