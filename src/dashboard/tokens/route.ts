import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listTokens } from '../../../projections/tokens/list.ts'
import { momentOf } from '../../commands/origin.ts'
import { createToken, requireToken } from '../../commands/tokens.ts'
import { isId, newId } from '../../credentials/id.ts'
import { grantableBy, type HeldRole, may } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { mayStandTogether, Scope } from '../../domain/tokens/events.ts'
import { effectWords } from '../../gate/effects/sentences.ts'
import { revokeToken } from '../../gate/operations/revoke-token.ts'
import { actorNames } from '../../history/actors.ts'
import { boxes, formOf, line } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { expiryOf, Lifetime } from './fields.ts'
import { madeTokenView, newTokenView, revokeTokenView, tokensView, tokenView } from './view.ts'

const NewToken = z.object({
  /** Created with the form, so that sending it twice creates one token. */
  tokenId: z.string().refine((id) => isId('tok', id)),
  name: line(200),
  scopes: boxes.pipe(z.array(Scope)),
  lifetime: Lifetime,
})

const path = '/dashboard/tokens'
const manage = pageRoute({ page: 'manage_tokens' })
const manageForm = pageRoute({ page: 'manage_tokens', proof: 'send' })

const Query = z.object({ cursor: one, show: one })

type TokenRequest = FastifyRequest<{ Params: { id: string } }>

export function tokenPages(app: FastifyInstance, context: PageContext): void {
  const { ports, cursors, show } = context

  app.get('/tokens', pageRoute({ page: 'see_requests', query: Query }), async (request, reply) => {
    const principal = principalOf(request)
    const { cursor, show: shown } = Query.parse(request.query)
    const live = shown !== 'all'
    const boundTo = [principal.tenantId, 'dashboard tokens', live]
    const keyset = { after: cursors.read(boundTo, cursor), limit: 50 }
    const filter = { live, now: momentOf(ports) }
    const { items, next } = await listTokens(ports.db, principal.tenantId, filter, keyset)
    const pages = { cursor, next: cursors.write(boundTo, next) }
    return show(reply, {
      title: 'API tokens',
      nav: 'tokens',
      content: (view) => tokensView(view, { tokens: items, live, pages, role: principal.role }),
    })
  })

  app.get('/tokens/:id', pageRoute({ page: 'see_requests' }), async (request: TokenRequest, reply) => {
    const { tenantId, role } = principalOf(request)
    const listed = await requireToken(ports, tenantId, request.params.id)
    const { memberId } = listed.token
    const member = `member:${memberId}`
    const madeBy = memberId === null ? null : (await actorNames(ports, tenantId, [member]))(member)
    return show(reply, {
      title: listed.token.name,
      nav: 'tokens',
      content: (view) => tokenView(view, listed, madeBy, may(role, 'manage_tokens')),
    })
  })

  revokeForms(app, context)
  newTokenPages(app, context)
}

/** A member who has just proved who they are revokes a token, with the rules of an approved API request. */
function revokeForms(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get('/tokens/:id/revoke', manage, async (request: TokenRequest, reply) => {
    const { tenantId } = principalOf(request)
    const { effect, refusal } = await revokeToken.preview(ports, tenantId, inputOf(request))
    if (refusal !== null) throw new Refusal(refusal)
    const listed = await requireToken(ports, tenantId, request.params.id)
    return show(reply, {
      title: 'Revoke token',
      nav: 'tokens',
      trail: [
        { label: 'API tokens', href: path },
        { label: listed.token.name, href: `${path}/${listed.token.tokenId}` },
      ],
      content: ({ token }) => revokeTokenView(token, listed, effectWords(effect)),
    })
  })

  app.post('/tokens/:id/revoke', manageForm, async (request: TokenRequest, reply) => {
    const { tenantId } = principalOf(request)
    const input = inputOf(request)
    try {
      await revokeToken.check(ports, tenantId, input)
      await revokeToken.run(ports, tenantId, input, { id: request.id, origin: originOfMember(request) })
    } catch (error) {
      // The form was sent twice, or another member was faster.
      if (!(error instanceof Refusal) || error.code !== 'token_revoked') throw error
    }
    const text = 'Token revoked. Requests with it are now rejected.'
    return redirectWith(reply, path, text)
  })
}

function problemOf({ name, scopes }: { name: string; scopes: Scope[] }, role: HeldRole): string | undefined {
  if (name === '') return 'Enter a name.'
  if (scopes.length === 0) return 'Choose at least one scope.'
  const grantable = grantableBy(role)
  const lacking = scopes.find((scope) => !grantable.includes(scope))
  if (lacking === 'scim') return 'Only an owner can create a token with the scope scim.'
  if (lacking) return `Your role cannot grant the scope ${lacking}.`
  return mayStandTogether(scopes) ? undefined : 'Choose scim alone, or the other scopes without it.'
}

const inputOf = ({ params: { id } }: TokenRequest) => ({ parameters: { id }, query: {}, body: null })

function newTokenPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const form = (
    reply: FastifyReply,
    role: HeldRole,
    given: { name: string; scopes: Scope[]; lifetime: Lifetime },
    problem?: string,
  ) =>
    show(reply, {
      title: 'New API token',
      nav: 'tokens',
      content: ({ token }) => newTokenView({ token, tokenId: newId('tok'), ...given, problem, role }),
      problem,
    })

  app.get('/tokens/new', manage, async (request, reply) =>
    form(reply, principalOf(request).role, {
      name: '',
      scopes: ['products:read', 'licenses:read'],
      lifetime: '90',
    }),
  )

  app.post('/tokens', manageForm, async (request, reply) => {
    const { tokenId, lifetime, ...input } = formOf(NewToken, request)
    const { tenantId, role } = principalOf(request)
    const problem = problemOf(input, role)
    if (problem !== undefined) return form(reply, role, { ...input, lifetime }, problem)
    const expiresAt = expiryOf(lifetime, ports.now())
    try {
      const made = await createToken(
        ports,
        { tokenId, tenantId, ...input, expiresAt },
        originOfMember(request),
      )
      return show(reply, {
        title: 'New token',
        nav: 'tokens',
        content: (view) => madeTokenView(view, made.token, input.name, made.scopes, expiresAt),
      })
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'token_exists') throw error
      const text =
        'This token was already created and is shown only once. If it is lost, revoke it and create another.'
      return redirectWith(reply, path, { kind: 'wrong', text })
    }
  })
}
