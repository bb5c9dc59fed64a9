import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ResellerEntry } from '../../../projections/resellers.ts'
import { addMember, issueLink } from '../../commands/members/members.ts'
import { requireReseller } from '../../commands/resellers/resellers.ts'
import { createToken } from '../../commands/tokens.ts'
import { isId, newId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import { resellerScopes } from '../../domain/tokens/events.ts'
import { EmailAddress } from '../../domain/values.ts'
import { effectWords } from '../../gate/effects/sentences.ts'
import { closeReseller } from '../../gate/operations/close-reseller.ts'
import { formOf, line } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { welcomePath } from '../welcome/route.ts'
import { closeView, newMemberView, newTokenView, shownOnceView } from './view.ts'

const path = '/dashboard/resellers'
const members = pageRoute({ page: 'manage_members' })
const memberForm = pageRoute({ page: 'manage_members', proof: 'send' })
const tokens = pageRoute({ page: 'manage_tokens' })
const tokenForm = pageRoute({ page: 'manage_tokens', proof: 'send' })

type ResellerRequest = FastifyRequest<{ Params: { id: string } }>

/** Who works for a reseller: their members and tokens, until the reseller is closed. */
export function accessPages(app: FastifyInstance, context: PageContext): void {
  memberPages(app, context)
  tokenPages(app, context)
  closePages(app, context)
}

/** @throws Refusal `reseller_not_found`, `reseller_closed` */
async function openReseller({ ports }: PageContext, request: ResellerRequest): Promise<ResellerEntry> {
  const entry = await requireReseller(ports, principalOf(request).tenantId, request.params.id)
  if (entry.reseller.status === 'closed') throw new Refusal('reseller_closed')
  return entry
}

const NewMember = z.object({ email: line(320) })

function memberPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show, baseUrl } = context
  const form = (reply: FastifyReply, entry: ResellerEntry, value = '', problem?: string) =>
    show(reply, {
      title: 'New member',
      nav: 'resellers',
      content: ({ token }) => newMemberView({ token, entry, value, problem }),
      problem,
    })

  app.get('/resellers/:id/members/new', members, async (request: ResellerRequest, reply) =>
    form(reply, await openReseller(context, request)),
  )

  app.post('/resellers/:id/members', memberForm, async (request: ResellerRequest, reply) => {
    const entry = await openReseller(context, request)
    const { tenantId, resellerId } = entry.reseller
    const { email } = formOf(NewMember, request)
    if (!EmailAddress.safeParse(email).success)
      return form(reply, entry, email, 'Enter a valid email address.')
    const origin = originOfMember(request)
    try {
      const memberId = await addMember(ports, { tenantId, role: 'reseller', resellerId, email }, origin)
      const { secret, expiresAt } = await issueLink(ports, tenantId, memberId, 'invitation', origin)
      const link = `${baseUrl}${welcomePath(secret)}`
      return show(reply, {
        title: 'One-time link',
        nav: 'resellers',
        content: () =>
          shownOnceView({
            title: 'One-time link',
            label: 'Link',
            secret: link,
            resellerId,
            until: expiresAt,
          }),
      })
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'member_exists') throw error
      return form(reply, entry, email, 'A member with this email address already exists.')
    }
  })
}

/** `tokenId`: created with the form, so that sending it twice creates one token. */
const NewToken = z.object({ tokenId: z.string().refine((id) => isId('tok', id)), name: line(200) })

function tokenPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  const form = (reply: FastifyReply, entry: ResellerEntry, problem?: string) =>
    show(reply, {
      title: 'New API token',
      nav: 'resellers',
      content: ({ token }) => newTokenView({ token, entry, value: '', problem, tokenId: newId('tok') }),
      problem,
    })

  app.get('/resellers/:id/tokens/new', tokens, async (request: ResellerRequest, reply) =>
    form(reply, await openReseller(context, request)),
  )

  app.post('/resellers/:id/tokens', tokenForm, async (request: ResellerRequest, reply) => {
    const entry = await openReseller(context, request)
    const { tenantId, resellerId } = entry.reseller
    const { tokenId, name } = formOf(NewToken, request)
    if (name === '') return form(reply, entry, 'Enter a name.')
    const input = { tokenId, tenantId, name, scopes: resellerScopes, expiresAt: null, resellerId }
    try {
      const { token } = await createToken(ports, input, originOfMember(request))
      return show(reply, {
        title: 'New token',
        nav: 'resellers',
        content: () =>
          shownOnceView({ title: name, label: 'Token', secret: token, resellerId, until: undefined }),
      })
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'token_exists') throw error
      const text =
        'This token was already created and is shown only once. If it is lost, revoke it and create another.'
      return redirectWith(reply, `${path}/${resellerId}`, { kind: 'wrong', text })
    }
  })
}

const inputOf = ({ params: { id } }: ResellerRequest) => ({ parameters: { id }, query: {}, body: null })

/** An owner who has just proved who they are closes a reseller, with the rules of an approved API request. */
function closePages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  app.get('/resellers/:id/close', members, async (request: ResellerRequest, reply) => {
    const entry = await openReseller(context, request)
    const { effect } = await closeReseller.preview(ports, entry.reseller.tenantId, inputOf(request))
    return show(reply, {
      title: 'Close reseller',
      nav: 'resellers',
      content: ({ token }) => closeView(token, entry, effectWords(effect)),
    })
  })

  app.post('/resellers/:id/close', memberForm, async (request: ResellerRequest, reply) => {
    const { tenantId } = principalOf(request)
    const { id } = request.params
    await closeReseller.run(ports, tenantId, inputOf(request), {
      id: request.id,
      origin: originOfMember(request),
    })
    return redirectWith(reply, `${path}/${id}`, 'Reseller closed.')
  })
}
