import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findTenant } from '../../../projections/tenants.ts'
import { finishOnboarding, refreshOnboarding } from '../../commands/integrations/card-account.ts'
import type { Origin } from '../../commands/origin.ts'
import { Refusal } from '../../domain/refusal.ts'
import { Slug } from '../../domain/values.ts'
import type { ZodApp } from '../../http/validation.ts'
import { onboardingAddresses, onboardingPath } from '../../payments/addresses.ts'
import { ProviderRefused, ProviderUnavailable } from '../../payments/errors.ts'
import type { Ports } from '../../ports.ts'

const ReturnQuery = z.object({ tenantId: Slug, state: z.string().min(1).max(200) })

const linked = { config: { foreignQuery: 'in links' }, schema: { hide: true } } as const

/** Pages for people who return from Stripe's onboarding. The state in the URL authenticates them. */
export function onboardingPages(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  baseUrl: string,
): void {
  app.get(onboardingPath(':tenantId', 'return'), linked, async (request, reply) => {
    const returned = await readReturn(ports, request)
    const outcome =
      returned &&
      (await tried(() => finishOnboarding(ports, returned.tenantId, returned.state, originOf(request))))
    if (outcome === undefined) return page(reply, 404, unknown)
    if (outcome === 'later') return page(reply, 503, later)
    if (outcome === 'connected') return page(reply, 200, connected)
    const { refreshUrl } = onboardingAddresses(baseUrl, returned?.tenantId ?? '')(returned?.state ?? '')
    return page(reply, 200, unfinished(refreshUrl))
  })
  app.get(onboardingPath(':tenantId', 'refresh'), linked, async (request, reply) => {
    const returned = await readReturn(ports, request)
    if (!returned) return page(reply, 404, unknown)
    const { tenantId, state } = returned
    const addresses = onboardingAddresses(baseUrl, tenantId)
    const url = await tried(() => refreshOnboarding(ports, tenantId, state, addresses))
    if (url === undefined) return page(reply, 404, unknown)
    if (url === 'later') return page(reply, 503, later)
    return reply.redirect(url, 303)
  })
}

const originOf = (request: FastifyRequest): Origin => ({ requestId: request.id, actor: 'provider:stripe' })

/** @returns undefined for a malformed or unknown state, and for a closed tenant */
async function readReturn(ports: Ports<'db'>, request: FastifyRequest) {
  const { params, query } = request
  const returned = ReturnQuery.safeParse({ ...Object(params), ...Object(query) })
  if (!returned.success) return undefined
  const tenant = await findTenant(ports.db, returned.data.tenantId)
  return tenant && tenant.status !== 'closed' ? returned.data : undefined
}

/** A temporary failure is shown as a page, too. */
async function tried<T>(work: () => Promise<T>): Promise<T | 'later'> {
  try {
    return await work()
  } catch (error) {
    const isExpected = [ProviderUnavailable, ProviderRefused, Refusal].some((kind) => error instanceof kind)
    if (isExpected) return 'later'
    throw error
  }
}

type Words = { title: string; text: string }

const connected = { title: 'Stripe is connected', text: 'You can close this window.' }
const unknown = {
  title: 'Link not valid',
  text: 'Request a new link: POST /v1/integrations/stripe/connect.',
}
const later = { title: 'Not finished yet', text: 'Stripe is not responding. Reload this page in a moment.' }
const unfinished = (refreshUrl: string): Words => ({
  title: 'Stripe onboarding is not complete',
  text: `<a href="${refreshUrl.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">Continue at Stripe</a>.`,
})

function page(reply: FastifyReply, status: number, { title, text }: Words): FastifyReply {
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      ...(status === 503 && { 'retry-after': '5' }),
    })
    .serializer((html: unknown) => String(html))
    .send(
      `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<h1>${title}</h1>
<p>${text}</p>
</html>
`,
    )
}
