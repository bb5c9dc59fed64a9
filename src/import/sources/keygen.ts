import { z } from 'zod'
import type { ApiLists } from '../api/lists.ts'
import type { ExportItem } from '../files/items.ts'
import {
  type ForeignComponent,
  type ForeignDevice,
  type ForeignLicense,
  type ForeignPolicy,
  floatingFor,
  plainLicense,
  policyNamed,
  type Unusable,
} from '../foreign.ts'
import {
  type GroupRead,
  groupOwnerOf,
  groupsOf,
  organizationOf,
  otherUsersOf,
  ownerOf,
  userOf,
} from './keygen-people.ts'
import { durationOf, isoOf } from './moments.ts'
import {
  dataOf,
  isSet,
  onceFor,
  type Piece,
  Resource,
  relatedId,
  type Shared,
  type Source,
  textFields,
  textOf,
  wholeOf,
} from './source.ts'

const pageSize = 100
const Page = z.looseObject({
  data: z.array(z.unknown()),
  links: z
    .looseObject({
      next: z.string().nullish(),
      meta: z.looseObject({ pages: z.int().optional() }).optional(),
    })
    .optional(),
})
const WithId = z.looseObject({ id: z.string() })

/** @see https://keygen.sh/docs/api/ */
const keygenApi: ApiLists = {
  baseUrl: 'https://api.keygen.sh',
  accept: 'application/vnd.api+json',
  needsAccount: true,
  async *lists({ account, licenseEntitlements }, fetched) {
    const base = `/v1/accounts/${encodeURIComponent(account)}`
    const list = (name: string, path = name, of: string | null = null) => ({
      list: name,
      of,
      first: `${base}/${path}?page[size]=${pageSize}&page[number]=1`,
    })
    yield list('policies')
    for await (const data of fetched('policies')) {
      const { id } = WithId.parse(data)
      yield list('policy-entitlements', `policies/${encodeURIComponent(id)}/entitlements`, id)
    }
    yield list('users')
    yield list('licenses')
    yield list('machines')
    if (licenseEntitlements) {
      for await (const data of fetched('licenses')) {
        const { id } = WithId.parse(data)
        yield list('license-entitlements', `licenses/${encodeURIComponent(id)}/entitlements`, id)
      }
    }
    // Later lists come last, so that a download that an earlier version began continues at the right one.
    yield list('components')
    yield list('groups')
    for await (const data of fetched('groups')) {
      const { id } = WithId.parse(data)
      yield list('group-owners', `groups/${encodeURIComponent(id)}/owners`, id)
    }
    for await (const data of fetched('licenses')) {
      const license = Resource.parse(data)
      if (otherUsersOf(license) > 0)
        yield list('license-users', `licenses/${encodeURIComponent(license.id)}/users`, license.id)
    }
  },
  pageInfo({ first }, page, body) {
    const { data, links } = Page.parse(body)
    const isLast = data.length < pageSize || links?.next === null
    return {
      next: isLast ? null : first.replace('page[number]=1', `page[number]=${page + 1}`),
      pages: links?.meta?.pages,
    }
  },
}

/** Keygen: policies become key types, machines devices, entitlements entitlements, groups organizations. */
export const keygenSource: Source = {
  name: 'keygen',
  pieceOf,
  licensesIn(pieces, shared) {
    const [license] = dataOf(pieces, 'licenses', Resource)
    if (!license) return []
    const from = pieces.find(({ kind }) => kind === 'licenses')?.from ?? ''
    return [licenseOf(from, license, { pieces, shared })]
  },
  policiesIn: (shared) =>
    [...shared.all('policies').values()].map((data) => policyOf(Resource.parse(data), shared)),
  organizationsIn: (shared) => [...groupsOf(shared).values()].map(({ organization }) => organization),
  policyNamed,
  api: keygenApi,
}

const Code = z.object({ of: z.string(), code: z.string() })

function pieceOf({ list, of, from, data }: ExportItem): Piece | string | undefined {
  const read = Resource.safeParse(data)
  if (!read.success) return 'It is not a resource of the API of Keygen.'
  const { type, id, attributes } = read.data
  const piece = (group: string | null, kept: unknown = read.data): Piece => ({
    kind: type,
    id,
    group,
    from,
    data: kept,
  })
  switch (type) {
    case 'licenses':
      return piece(id)
    case 'machines':
      return piece(relatedId(read.data, 'license') ?? '')
    case 'policies':
      return piece(null)
    case 'users':
      if (list === 'license-users' && of !== null)
        return { kind: 'license-users', id: `${of} ${id}`, group: of, from, data: userOf(read.data) }
      return piece(null, userOf(read.data))
    case 'groups':
      return piece(null, { from, group: read.data } satisfies z.input<typeof GroupRead>)
    case 'group-owners':
      return piece(null, groupOwnerOf(read.data))
    case 'components':
      return piece(null, componentOf(read.data))
    case 'entitlements': {
      const code = textOf(attributes.code)
      if (of === null || code === null) return undefined
      const group = list === 'license-entitlements' ? of : null
      return { kind: type, id: `${of} ${id}`, group, from, data: { of, code } }
    }
    default:
      return undefined
  }
}

const codesOfPolicy = (shared: Shared, policyId: string): string[] =>
  [...shared.all('entitlements').values()].flatMap((data) => {
    const { of, code } = Code.parse(data)
    return of === policyId ? [code] : []
  })

function policyOf({ id, attributes }: Resource, shared: Shared): ForeignPolicy {
  const { name, maxMachines, duration, expirationStrategy } = attributes
  const goesOn = expirationStrategy === 'MAINTAIN_ACCESS' || expirationStrategy === 'ALLOW_ACCESS'
  return {
    policyId: id,
    name: textOf(name) ?? id,
    seats: wholeOf(maxMachines),
    duration: durationOf(wholeOf(duration)),
    onExpiry: goesOn ? 'fallback' : 'expire',
    entitlements: codesOfPolicy(shared, id),
    sellInMultiples: false,
    ...(isLeased(attributes) && {
      floatingSeats: floatingFor(wholeOf(attributes.heartbeatDuration), 'device'),
    }),
  }
}

/** Whether a machine of a floating license loses its place once its heartbeats stop. Without heartbeats it keeps it, as a device does here. */
const isLeased = ({ floating, requireHeartbeat, heartbeatCullStrategy }: Resource['attributes']): boolean =>
  isSet(floating) && isSet(requireHeartbeat) && heartbeatCullStrategy !== 'KEEP_DEAD'

type Context = { pieces: readonly Piece[]; shared: Shared }

function licenseOf(from: string, license: Resource, { pieces, shared }: Context): ForeignLicense | Unusable {
  const { id, attributes } = license
  const licenseKey = textOf(attributes.key)
  const expiresAt = isoOf(textOf(attributes.expiry))
  const createdAt = isoOf(textOf(attributes.created))
  if (expiresAt === 'invalid' || createdAt === 'invalid') {
    return { from, externalId: id, licenseKey, problem: 'Its expiry or its creation is not a time.' }
  }
  const policyId = relatedId(license, 'policy')
  const policy = shared.get('policies', policyId)
  const { email = null, name = null } = ownerOf(license, shared) ?? {}
  const { organization, leftOut } = organizationOf(from, license, { pieces, shared })
  const own = dataOf(pieces, 'entitlements', Code).map(({ code }) => code)
  const licenseName = textOf(attributes.name)
  return {
    ...plainLicense,
    from,
    externalId: id,
    licenseKey,
    productId: relatedId(license, 'product'),
    policyId,
    entitlements: own.length === 0 ? null : [...codesOfPolicy(shared, policyId ?? ''), ...own],
    email,
    name,
    organization,
    createdAt: createdAt ?? null,
    expiresAt: expiresAt ?? null,
    updatesUntil: keepsReleases(policy) ? expiresAt : undefined,
    status: statusOf(attributes),
    seats: seatsOf(attributes, policy),
    devices: dataOf(pieces, 'machines', Resource).map((machine) => deviceOf(machine, shared)),
    metadata: { ...(licenseName !== null && { licenseName }), ...textFields(attributes.metadata) },
    leftOut: [...limitsOf(attributes), ...leasingOf(policy), ...leftOut],
  }
}

/** Whether a license that has expired keeps access there to the releases from before, and to no later ones. */
const keepsReleases = (policy: unknown): boolean =>
  policy !== undefined && Resource.parse(policy).attributes.expirationStrategy === 'MAINTAIN_ACCESS'

/** A license whose owner is banned is not valid there, until the ban is lifted. */
function statusOf({ suspended, status }: Resource['attributes']): ForeignLicense['status'] {
  if (isSet(suspended) || status === 'SUSPENDED' || status === 'BANNED') return 'suspended'
  return status === 'EXPIRED' ? 'expired' : 'active'
}

const overage: Record<string, number> = {
  ALLOW_1_25X_OVERAGE: 1.25,
  ALLOW_1_5X_OVERAGE: 1.5,
  ALLOW_2X_OVERAGE: 2,
  ALWAYS_ALLOW_OVERAGE: Number.POSITIVE_INFINITY,
}

/** The limit with what the policy lets a license exceed it by, since keyledger enforces a limit exactly. */
function seatsOf({ maxMachines }: Resource['attributes'], policy: unknown): number | null {
  const strategy = policy === undefined ? null : textOf(Resource.parse(policy).attributes.overageStrategy)
  const seats = wholeOf(maxMachines)
  const allowed = seats === null ? null : Math.floor(seats * (overage[strategy ?? ''] ?? 1))
  return allowed === null || allowed === Number.POSITIVE_INFINITY ? null : Math.max(1, allowed)
}

function deviceOf({ id, attributes }: Resource, shared: Shared): ForeignDevice {
  const { name, hostname, lastHeartbeat, lastCheckOut, created } = attributes
  const fingerprint = textOf(attributes.fingerprint)
  const components = componentsByMachine(shared).get(id)
  return {
    deviceId: fingerprint ?? id,
    name: textOf(name) ?? textOf(hostname),
    lastSeen: textOf(lastHeartbeat) ?? textOf(lastCheckOut) ?? textOf(created),
    ...(fingerprint !== null && { machine: fingerprint }),
    ...(components !== undefined && { components }),
  }
}

const Component = z.object({ of: z.string(), name: z.string().nullable(), value: z.string().nullable() })

/** A component names its machine and not its license, so components are kept beside the licenses until their machine is read. */
const componentOf = (component: Resource): z.infer<typeof Component> => ({
  of: relatedId(component, 'machine') ?? '',
  name: textOf(component.attributes.name),
  value: textOf(component.attributes.fingerprint),
})

/** The components of each machine by the machine's id. */
const componentsByMachine = onceFor((shared): ReadonlyMap<string, ForeignComponent[]> => {
  const index = new Map<string, ForeignComponent[]>()
  for (const data of shared.all('components').values()) {
    const { of, name, value } = Component.parse(data)
    index.set(of, [...(index.get(of) ?? []), { name, value }])
  }
  return index
})

/** Machines that are counted for each user of a license have no equal: users share its seats. */
function leasingOf(policy: unknown): string[] {
  const ofEachUser =
    policy !== undefined && Resource.parse(policy).attributes.machineLeasingStrategy === 'PER_USER'
  return ofEachUser ? ['Its limit of machines is for each user there; here all its users share it.'] : []
}

const otherLimits = { maxCores: 'cores', maxProcesses: 'processes', maxUses: 'uses', maxUsers: 'users' }

const limitsOf = (attributes: Resource['attributes']): string[] =>
  Object.entries(otherLimits).flatMap(([field, what]) => {
    const limit = wholeOf(attributes[field])
    return limit === null
      ? []
      : [`Its limit of ${limit} ${what} is left out: licenses are limited by devices alone.`]
  })
