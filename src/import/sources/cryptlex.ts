import { z } from 'zod'
import type { EntitlementValues } from '../../domain/products/entitlement-values.ts'
import type { ApiLists } from '../api/lists.ts'
import type { ExportItem } from '../files/items.ts'
import {
  type ForeignDevice,
  type ForeignLicense,
  type ForeignPolicy,
  floatingFor,
  plainLicense,
  policyNamed,
  type Unusable,
} from '../foreign.ts'
import {
  Fields,
  memberOf,
  metadataOf,
  organizationOf,
  organizationsOf,
  personOf,
} from './cryptlex-organizations.ts'
import { durationOf, isoDurationOf, isoOf } from './moments.ts'
import {
  dataOf,
  isSet,
  type Piece,
  type Shared,
  type Source,
  textOf,
  valueInText,
  wholeOf,
} from './source.ts'

const pageSize = 100
const Page = z.array(z.unknown())

/** @see https://api.cryptlex.com/v3/docs */
const cryptlexApi: ApiLists = {
  baseUrl: 'https://api.cryptlex.com',
  accept: 'application/json',
  needsAccount: false,
  async *lists() {
    // Later lists come last, so that a download that an earlier version began continues at the right one.
    const licenses = ['products', 'license-templates', 'product-versions', 'licenses', 'activations']
    for (const list of [...licenses, 'organizations', 'users']) {
      yield { list, of: null, first: `/v3/${list}?limit=${pageSize}&page=1` }
    }
  },
  pageInfo({ first }, page, body) {
    const isLast = Page.parse(body).length < pageSize
    return { next: isLast ? null : first.replace('&page=1', `&page=${page + 1}`) }
  },
}

/** Cryptlex: license templates become key types, activations devices, feature flags entitlements with values, organizations organizations. */
export const cryptlexSource: Source = {
  name: 'cryptlex',
  pieceOf,
  licensesIn(pieces, shared) {
    const [license] = dataOf(pieces, 'licenses', Fields)
    if (!license) return []
    const from = pieces.find(({ kind }) => kind === 'licenses')?.from ?? ''
    return [licenseOf(from, license, { pieces, shared })]
  },
  policiesIn: (shared) => [...shared.all('templates').values()].map((data) => policyOf(Fields.parse(data))),
  organizationsIn: (shared) => [...organizationsOf(shared).values()],
  policyNamed,
  api: cryptlexApi,
}

/** The lists by the names of their files; older accounts call templates policies. */
const kinds: Record<string, string> = {
  licenses: 'licenses',
  activations: 'activations',
  'license-templates': 'templates',
  'license-policies': 'templates',
  'product-versions': 'versions',
  products: 'products',
  organizations: 'organizations',
  users: 'users',
}

function pieceOf({ list, from, data }: ExportItem): Piece | string | undefined {
  const kind = kinds[list]
  if (kind === undefined) return undefined
  const read = Fields.safeParse(data)
  if (!read.success) return 'It is not an object of the API of Cryptlex.'
  const { id } = read.data
  if (kind === 'organizations') return { kind, id, group: null, from, data: { from, fields: read.data } }
  if (kind === 'users') {
    const member = memberOf(read.data)
    return member && { kind, id, group: null, from, data: member }
  }
  const group = kind === 'licenses' ? id : kind === 'activations' ? (textOf(read.data.licenseId) ?? '') : null
  return { kind, id, group, from, data: read.data }
}

function policyOf(template: Fields): ForeignPolicy {
  return {
    ...policyNamed(template.id),
    name: textOf(template.name) ?? template.id,
    seats: seatsOf(template),
    duration: isoDurationOf(textOf(template.subscriptionInterval)) ?? durationOf(wholeOf(template.validity)),
    ...(isFloating(template) && { floatingSeats: leasesOf(template) }),
  }
}

const isFloating = ({ type }: Fields): boolean => textOf(type)?.includes('floating') === true

/** On a server of the customer. Its activations there are those of servers, which lend seats to clients. */
const isOnPremise = ({ type }: Fields): boolean => textOf(type)?.includes('on-premise') === true

const leasesOf = ({ leaseDuration, leasingStrategy }: Fields) =>
  floatingFor(wholeOf(leaseDuration), leasingStrategy === 'per-instance' ? 'process' : 'device')

/** A license on premise limits the clients of its servers, any other its activations; 0 and below mean no limit. */
function seatsOf(fields: Fields): number | null {
  const seats = wholeOf(isOnPremise(fields) ? fields.allowedFloatingClients : fields.allowedActivations)
  return seats === null || seats <= 0 ? null : seats
}

type Context = { pieces: readonly Piece[]; shared: Shared }

function licenseOf(from: string, license: Fields, { pieces, shared }: Context): ForeignLicense | Unusable {
  const { id: externalId, key, productId, expirationStrategy } = license
  const licenseKey = textOf(key)
  const unusable = (problem: string) => ({ from, externalId, licenseKey, problem })
  const expiresAt = isoOf(textOf(license.expiresAt))
  const createdAt = isoOf(textOf(license.createdAt))
  const updatesUntil = isoOf(textOf(license.maintenanceExpiresAt))
  if (expiresAt === 'invalid' || createdAt === 'invalid' || updatesUntil === 'invalid')
    return unusable('Its expiry, its creation or the end of its maintenance is not a time.')
  const endsSomeTime = expiresAt === undefined && isTimed(license)
  if (endsSomeTime && expirationStrategy === 'rolling')
    return unusable(
      'Each of its activations ends at its own time. Give it one end there, and export it again.',
    )
  if (endsSomeTime)
    return unusable(
      'Its time begins with its first activation there. Give it an end there, and export it again.',
    )
  const { email, name } = personOf(license.user)
  const flags = flagsOf(shared.get('versions', textOf(license.productVersionId)))
  return {
    ...plainLicense,
    from,
    externalId,
    licenseKey,
    productId: textOf(productId),
    policyId: policyIdOf(license, shared),
    entitlements: flags?.map((flag) => flag.name) ?? null,
    entitlementValues: valuesOfFlags(flags ?? []),
    email,
    name,
    organization: organizationOf(from, license, shared),
    createdAt: createdAt ?? null,
    expiresAt: expiresAt ?? null,
    updatesUntil,
    status: isSet(license.revoked) ? 'revoked' : isSet(license.suspended) ? 'suspended' : 'active',
    seats: seatsOf(license),
    devices: isOnPremise(license) ? [] : dataOf(pieces, 'activations', Fields).map(deviceOf),
    metadata: metadataOf(license),
    leftOut: [...floatingLeftOut(license, shared), ...leftOutOf(license), ...leftOutOfFlags(flags ?? [])],
  }
}

/** A validity of 0 is perpetual. */
const isTimed = ({ validity, subscriptionInterval }: Fields): boolean =>
  (wholeOf(validity) ?? 0) > 0 || (textOf(subscriptionInterval) ?? '') !== ''

/** Without a template, the name of its product. */
function policyIdOf(license: Fields, shared: Shared): string | null {
  const template = textOf(license.licenseTemplateId) ?? textOf(license.licensePolicyId)
  if (template !== null) return template
  const product = Fields.safeParse(shared.get('products', textOf(license.productId)))
  return product.success ? (textOf(product.data.displayName) ?? textOf(product.data.name)) : null
}

const Flag = z.looseObject({ name: z.string(), enabled: z.boolean(), data: z.unknown() })
type Flag = z.infer<typeof Flag>
const Version = z.looseObject({ featureFlags: z.array(Flag).catch([]) })

/** The feature flags that are enabled; null without a product version. */
function flagsOf(version: unknown): Flag[] | null {
  const read = Version.safeParse(version)
  return read.success ? read.data.featureFlags.filter(({ enabled }) => enabled) : null
}

/** What the flags carry as data, which the app reads for itself there. */
function valuesOfFlags(flags: readonly Flag[]): EntitlementValues | undefined {
  const values = flags.flatMap(({ name, data }) => {
    const value = valueInText(textOf(data) ?? '')
    return value === undefined ? [] : [[name, value] as const]
  })
  return values.length === 0 ? undefined : Object.fromEntries(values)
}

const leftOutOfFlags = (flags: readonly Flag[]): string[] =>
  flags.flatMap(({ name, data }) => {
    const text = textOf(data)
    return text === null || valueInText(text) !== undefined
      ? []
      : [`The data of its feature ${name} is left out: a value has at most 200 characters on one line.`]
  })

function deviceOf(activation: Fields): ForeignDevice {
  const fingerprint = textOf(activation.fingerprint)
  return {
    deviceId: fingerprint ?? activation.id,
    name: textOf(activation.hostname),
    lastSeen: textOf(activation.lastSyncedAt) ?? textOf(activation.createdAt),
    ...(fingerprint !== null && { machine: fingerprint }),
  }
}

const Meters = z.array(z.unknown()).catch([])

/** A license floats here as its key type does, and so as its template. */
function floatingLeftOut(license: Fields, shared: Shared): string[] {
  const template = Fields.safeParse(shared.get('templates', policyIdOf(license, shared)))
  const floats = template.success && isFloating(template.data)
  return [
    ...(isFloating(license) && !floats
      ? ['It is floating there, unlike its template; its devices keep their seats until they are freed.']
      : []),
    ...(floats && !isFloating(license)
      ? ['It is not floating there, unlike its template; its seats float here.']
      : []),
    ...(isOnPremise(license)
      ? ['Its activations are left out: they are of license servers, and the devices are not in the export.']
      : []),
  ]
}

function leftOutOf({ entitlementSetId, meterAttributes }: Fields): string[] {
  return [
    ...(textOf(entitlementSetId) === null
      ? []
      : ['Its entitlement set is left out. Give its key type the entitlements.']),
    ...(Meters.parse(meterAttributes).length === 0 ? [] : ['Its meters are left out: usage is not limited.']),
  ]
}
