import { z } from 'zod'
import { listSignInProviders } from '../../../projections/sign-in-providers.ts'
import type { SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import { Slug } from '../../domain/values.ts'
import {
  addSignInProvider,
  audienceFields,
  changeSignInProvider,
  deleteSignInProvider,
  requireProvider,
  settingFields,
} from '../../gate/operations/sign-in-providers.ts'
import type { ApprovalPorts } from '../../gate/ports.ts'
import { callerIn } from '../../http/authenticate.ts'
import { gatedRoute } from '../../http/gate.ts'
import { answer, errors, momentOut, pageOf } from '../../http/schemas.ts'
import { backChannelPath, redirectPath } from '../../http/sign-in-paths.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'

const providerOut = z
  .object({
    id: Slug.meta({ description: 'The id of the sign-in provider', example: 'entra' }),
    issuer: z.string().meta({ description: 'The issuer', example: 'https://acme.okta.example' }),
    ...audienceFields,
    ...settingFields,
    redirectUri: z.string().meta({
      description: 'The redirect URI to register at the provider',
      example: 'https://licenses.acme.example/dashboard/sign-in/acme/entra/callback',
    }),
    backChannelLogoutUri: z.string().meta({
      description: 'The back-channel logout URI to register at a provider that has such logouts',
      example: 'https://licenses.acme.example/login/acme/entra/logout',
    }),
    createdAt: momentOut,
    updatedAt: momentOut,
  })
  .meta({
    id: 'SignInProvider',
    description:
      'A provider of OpenID Connect that members sign in to the dashboard with, or customers to the portal',
  })

const oneProvider = z.object({ provider: providerOut })

const path = '/v1/sign-in-providers'
const params = z.strictObject({
  id: z.string().meta({ description: 'The id of the sign-in provider', example: 'entra' }),
})

/** The providers that members of the workspace sign in with, and its customers. Client secrets are taken, and never shown. */
export function signInProviderRoutes(app: ZodApp, ports: ApprovalPorts, baseUrl: string): void {
  const view = (
    tenantId: string,
    { providerId: id, audience, secretOf: _, createdAt, updatedAt, ...shown }: SignInProvider,
  ) => ({
    id,
    ...shown,
    audience: audience ? ('customers' as const) : ('members' as const),
    customerId: audience?.customerId ?? null,
    redirectUri: `${baseUrl}${redirectPath(tenantId, { providerId: id, ...(audience && { audience }) })}`,
    backChannelLogoutUri: `${baseUrl}${backChannelPath(tenantId, id)}`,
    createdAt,
    updatedAt,
  })
  readRoutes(app, ports, view)
  changeRoutes(app, ports, view)
}

type ProviderView = (tenantId: string, provider: SignInProvider) => z.infer<typeof providerOut>

function readRoutes(app: ZodApp, ports: Ports<'db'>, view: ProviderView): void {
  app.get(
    path,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'listSignInProviders',
        tags: ['Workspace'],
        summary: 'List the providers that members and customers sign in with',
        description:
          'There are at most 10 for members and 100 for customers, by age. They are always on one page, so there is no `cursor`, `limit` or `order`, and ' +
          '`nextCursor` is always null.',
        response: { 200: answer('The providers', pageOf(providerOut)), ...errors(403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { providers } = await listSignInProviders(ports.db, tenantId)
      return { items: providers.map((provider) => view(tenantId, provider)), nextCursor: null }
    },
  )
  app.get(
    `${path}/:id`,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getSignInProvider',
        tags: ['Workspace'],
        summary: 'Read a sign-in provider',
        description: 'The client secret is never shown.',
        params,
        response: { 200: answer('The provider', oneProvider), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return { provider: view(tenantId, await requireProvider(ports, tenantId, request.params.id)) }
    },
  )
}

function changeRoutes(app: ZodApp, ports: ApprovalPorts, view: ProviderView): void {
  gatedRoute(app, ports, addSignInProvider, {
    operationId: 'addSignInProvider',
    tags: ['Workspace'],
    summary: 'Add a provider of OpenID Connect that members sign in with, or customers',
    description:
      'Register the redirect URI at the provider: the base URL, `/dashboard/sign-in/`, the tenant ID, `/`, the `id`, and `/callback`; ' +
      'for customers `/portal/`, the tenant ID, `/sign-in/`, the `id`, and `/callback`. ' +
      'The issuer must be an https URL with a public address. Whether it answers is seen at the first sign-in.',
    response: { 200: answer('The provider', oneProvider), ...errors(404, 409, 422) },
    reply: (provider, { request }) => ({ provider: view(callerIn(request).tenantId, provider) }),
  })
  gatedRoute(app, ports, changeSignInProvider, {
    operationId: 'changeSignInProvider',
    tags: ['Workspace'],
    summary: 'Change a sign-in provider; omitted fields keep their value',
    description:
      'Roles change at the next sign-in of each person. The issuer and `audience` stay: delete the provider and add another.',
    response: { 200: answer('The provider', oneProvider), ...errors(404, 422) },
    reply: (provider, { request }) => ({ provider: view(callerIn(request).tenantId, provider) }),
  })
  gatedRoute(app, ports, deleteSignInProvider, {
    operationId: 'deleteSignInProvider',
    tags: ['Workspace'],
    summary: 'Delete a sign-in provider',
    description:
      'Its sessions end, and its client secret is destroyed. Members and the people of organizations stay.',
    response: {
      200: answer(
        'The sign-in provider is deleted',
        z.object({ deleted: z.literal(true).meta({ description: 'Always true: it is deleted' }) }),
      ),
      ...errors(404),
    },
    reply: () => ({ deleted: true }),
  })
}
