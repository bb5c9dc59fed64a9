import { z } from 'zod'
import { findCustomer } from '../../../projections/customers.ts'
import { findSignInProvider, listSignInProviders } from '../../../projections/sign-in-providers.ts'
import { requireRoles, rolesIn } from '../../commands/custom-roles.ts'
import { addProvider, changeProvider, removeProvider } from '../../commands/sign-in-providers.ts'
import { isId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import { type ProviderAudience, ProviderSettings } from '../../domain/sign-in-providers/events.ts'
import {
  requireAddable,
  requireFittingRoles,
  type SignInProvider,
} from '../../domain/sign-in-providers/provider.ts'
import { Slug, SlugInPath, text } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { type Detail, gatedOperation } from '../operation.ts'

const { name, clientId, roleClaim, roles, defaultRole, domains } = ProviderSettings.shape

/** Whom a provider is for, as the interface describes it. It is fixed once the provider is added. */
export const audienceFields = {
  audience: z.enum(['members', 'customers']).meta({
    description: 'Who signs in: members of the workspace to the dashboard, or customers to the portal',
    example: 'members',
  }),
  customerId: text(100).nullable().meta({
    description: 'The organization whose people sign in; null for members, and for all customers',
    example: null,
  }),
}

/** The settings of a provider, as the interface describes them. */
export const settingFields = {
  name: name.meta({ description: 'On the button of the sign-in page', example: 'Acme Entra' }),
  clientId: clientId.meta({
    description: 'The client ID that the provider gave',
    example: '0oa2f9k3hxQm4n9t1r0s',
  }),
  roleClaim: roleClaim.meta({
    description:
      'The claim whose values give roles, a text or a list of texts; null when people keep the role that they have here',
    example: 'groups',
  }),
  roles: roles.meta({
    description: 'Which value of the claim gives which role; of several, the first that fits counts',
    example: [{ value: 'licensing-admins', role: 'admin' }],
  }),
  defaultRole: defaultRole.meta({
    description:
      'The role without a mapped value, and of a new member or person without `roleClaim`; null refuses them',
    example: 'auditor',
  }),
  domains: domains.meta({
    description: 'The domains of the email addresses that the provider may vouch for',
    example: ['acme.example'],
  }),
}

const clientSecret = text(4096).meta({
  description: 'The client secret that the provider gave; it is never shown',
  example: 'q8Zr…',
})

const params = z.strictObject({
  id: SlugInPath.meta({ description: 'The id of the sign-in provider', example: 'entra' }),
})

const added = z
  .strictObject({
    id: Slug.meta({
      description: 'The id of the sign-in provider, part of its redirect URI',
      example: 'entra',
    }),
    issuer: text(2048).meta({
      description: 'The issuer, exactly as the provider writes it; it never changes',
      example: 'https://acme.okta.example',
    }),
    audience: audienceFields.audience.default('members'),
    customerId: audienceFields.customerId.default(null),
    clientSecret,
    ...settingFields,
    roleClaim: settingFields.roleClaim.default(null),
    roles: settingFields.roles.default([]),
    defaultRole: settingFields.defaultRole.default(null),
  })
  .refine(({ audience, customerId }) => audience === 'customers' || customerId === null, {
    path: ['customerId'],
    error: 'Only a provider for customers may be for one organization.',
  })
  .meta({
    example: {
      id: 'entra',
      issuer: 'https://acme.okta.example',
      clientId: '0oa2f9k3hxQm4n9t1r0s',
      clientSecret: 'q8Zr…',
      name: 'Acme Entra',
      domains: ['acme.example'],
    },
  })

const changed = z
  .strictObject({
    clientSecret: clientSecret.optional(),
    name: settingFields.name.optional(),
    clientId: settingFields.clientId.optional(),
    roleClaim: settingFields.roleClaim.optional(),
    roles: settingFields.roles.optional(),
    defaultRole: settingFields.defaultRole.optional(),
    domains: settingFields.domains.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, { error: 'Send what to change.' })
  .meta({ example: { defaultRole: 'auditor' } })

/** Who adds a provider decides who signs in as whom, also as an owner: only who manages members approves it. */
const approvedWith = 'manage_members'

export const addSignInProvider = gatedOperation({
  name: 'sign-in-provider.add',
  title: 'Add a sign-in provider',
  method: 'POST',
  path: '/v1/sign-in-providers',
  scope: 'integrations:write',
  approvedWith,
  input: z.object({ body: added }),
  async check(ports, tenantId, { body }) {
    const whose = audienceOf(body)
    await requireOrganization(ports, tenantId, body.customerId)
    requireAddable(await listSignInProviders(ports.db, tenantId), {
      providerId: body.id,
      issuer: body.issuer,
      ...(whose && { audience: whose }),
    })
    requireFittingRoles(whose, body)
    await requireRoles(ports, tenantId, rolesIn(body))
    const url = URL.parse(body.issuer)
    const isBare = url !== null && url.search === '' && url.hash === ''
    if (!isBare || (await ports.checkTarget(url)) !== undefined)
      throw new Refusal('sign_in_issuer_not_allowed')
  },
  async describe(ports, tenantId, { body }) {
    const { revision } = await listSignInProviders(ports.db, tenantId)
    return {
      summary:
        body.audience === 'members'
          ? `Let people sign in to this workspace with ${body.name}`
          : `Let customers sign in to the portal with ${body.name}`,
      target: { host: URL.parse(body.issuer)?.host ?? '', url: body.issuer },
      details: [
        ...(body.audience === 'members' ? [] : [['Customers', body.customerId ?? 'all'] as const]),
        ...detailsOf(body),
      ],
      state: { revision },
    }
  },
  run(ports, tenantId, { body }, { id, origin }): Promise<SignInProvider> {
    const { id: providerId, issuer, audience: _, customerId: __, clientSecret: secret, ...settings } = body
    const provider = { providerId, issuer, audience: audienceOf(body), clientSecret: secret, settings }
    return addProvider(ports, tenantId, provider, id, origin)
  },
})

export const changeSignInProvider = gatedOperation({
  name: 'sign-in-provider.change',
  title: 'Change a sign-in provider',
  method: 'PATCH',
  path: '/v1/sign-in-providers/{id}',
  scope: 'integrations:write',
  approvedWith,
  input: z.object({ params, body: changed }),
  async check(ports, tenantId, { params: { id }, body }) {
    const provider = await requireProvider(ports, tenantId, id)
    const { roleClaim: claim = provider.roleClaim, roles: mapped = provider.roles } = body
    const { defaultRole: given = provider.defaultRole } = body
    requireFittingRoles(provider.audience, { roleClaim: claim, roles: mapped, defaultRole: given })
    await requireRoles(ports, tenantId, rolesIn(body))
  },
  async describe(ports, tenantId, { params: { id }, body }) {
    const provider = await requireProvider(ports, tenantId, id)
    const { clientSecret: secret, ...settings } = body
    return {
      summary: `Change how people sign in with ${provider.name}`,
      details: [
        ...detailsOf(settings),
        ...(secret === undefined ? [] : ([['Client secret', 'replaced']] as const)),
      ],
      state: { updatedAt: provider.updatedAt },
    }
  },
  run: (ports, tenantId, { params: { id: providerId }, body }, { id, origin }): Promise<SignInProvider> =>
    changeProvider(ports, tenantId, providerId, body, id, origin),
})

export const deleteSignInProvider = gatedOperation({
  name: 'sign-in-provider.delete',
  title: 'Delete a sign-in provider',
  method: 'DELETE',
  path: '/v1/sign-in-providers/{id}',
  scope: 'integrations:write',
  approvedWith,
  input: z.object({ params }),
  async check(ports, tenantId, { params: { id } }) {
    await requireProvider(ports, tenantId, id)
  },
  async describe(ports, tenantId, { params: { id } }) {
    const { name: called, createdAt } = await requireProvider(ports, tenantId, id)
    return { summary: `Stop sign-ins with ${called}, and end its sessions`, state: { createdAt } }
  },
  run: (ports, tenantId, { params: { id: providerId } }, { id, origin }): Promise<void> =>
    removeProvider(ports, tenantId, providerId, id, origin),
})

type Whose = { audience: 'members' | 'customers'; customerId: string | null }

const audienceOf = ({ audience, customerId }: Whose): ProviderAudience | undefined =>
  audience === 'members' ? undefined : { customerId }

/** @throws Refusal `customer_not_found`, also for a customer of another tenant, and `not_an_organization` */
async function requireOrganization(
  { db }: Ports<'db'>,
  tenantId: string,
  customerId: string | null,
): Promise<void> {
  if (customerId === null) return
  const entry = isId('cus', customerId) ? await findCustomer(db, tenantId, customerId) : undefined
  if (!entry) throw new Refusal('customer_not_found')
  if (entry.customer.people === undefined) throw new Refusal('not_an_organization')
}

/** @throws Refusal `sign_in_provider_not_found` */
export async function requireProvider(
  { db }: Ports<'db'>,
  tenantId: string,
  providerId: string,
): Promise<SignInProvider> {
  const provider = await findSignInProvider(db, tenantId, providerId)
  if (!provider) throw new Refusal('sign_in_provider_not_found')
  return provider
}

type Settings = { [K in keyof ProviderSettings]?: ProviderSettings[K] | undefined }

function detailsOf(of: Settings): Detail[] {
  const { name: called, clientId: client, domains: vouchedFor, roleClaim: claim } = of
  const mapped = of.roles?.map(({ value, role }) => `${value}: ${role}`).join(', ')
  const given: readonly (readonly [string, string | undefined])[] = [
    ['Name', called],
    ['Client ID', client],
    ['Email domains', vouchedFor?.join(', ')],
    ['Claim with roles', claim === null ? 'none' : claim],
    ['Roles', mapped === '' ? 'none' : mapped],
    ['Default role', of.defaultRole === null ? 'none' : of.defaultRole],
  ]
  return given.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]))
}
