import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { readMaskedKeys } from '../../../projections/client-keys/queries.ts'
import { listSigningKeys } from '../../../projections/signing/queries.ts'
import { findTenant } from '../../../projections/tenants/queries.ts'
import { findWebhook } from '../../../projections/webhooks/queries.ts'
import { issueCheckoutKey } from '../../commands/client-keys.ts'
import { momentOf } from '../../commands/origin.ts'
import { isId, newId } from '../../credentials/id.ts'
import { may } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { WebhookEventName } from '../../domain/webhooks/events.ts'
import { setWebhook } from '../../gate/operations/set-webhook.ts'
import { problemOfRefusal } from '../../http/problem.ts'
import { boxes, formOf, line } from '../frame/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { freshFormMs, freshMs, originOfMember, principalOf } from '../session/principal.ts'
import { approvalRulePages } from './approval-rule-route.ts'
import { sdkKeyPages } from './sdk-key-route.ts'
import { signingKeyPages } from './signing-keys-route.ts'
import {
  checkoutKeyView,
  madeCheckoutKeyView,
  madeWebhookView,
  settingsView,
  webhookFormView,
} from './view.ts'

const manage = pageRoute({ page: 'manage_connections', freshMs })
const manageForm = pageRoute({ page: 'manage_connections', freshMs: freshFormMs })

const path = '/dashboard/settings'

export function settingPages(app: FastifyInstance, context: PageContext): void {
  const { services, show } = context

  app.get('/settings', pageRoute({ page: 'member' }), async (request, reply) => {
    const principal = principalOf(request)
    const keys = await readMaskedKeys(services.db, principal.tenantId)
    const { endpoint } = await findWebhook(services.db, principal.tenantId)
    const tenant = await findTenant(services.db, principal.tenantId)
    const signingKeys = await listSigningKeys(services.db, principal.tenantId, momentOf(services))
    return show(reply, {
      title: 'Settings',
      nav: 'settings',
      content: (view) =>
        settingsView(view, {
          principal,
          ...keys,
          signingKeys,
          endpoint,
          anotherMember: tenant?.anotherMemberApproves ?? false,
          mayManage: may(principal.role, 'manage_settings'),
          mayConnect: may(principal.role, 'manage_connections'),
        }),
    })
  })

  checkoutKeyPages(app, context)
  sdkKeyPages(app, context)
  webhookPages(app, context)
  signingKeyPages(app, context)
  approvalRulePages(app, context)
}

/** The form names the key to replace, so that sending it twice replaces one key only. */
const CheckoutForm = z.object({ replaces: z.string().max(100) })

function checkoutKeyPages(app: FastifyInstance, { services, show }: PageContext): void {
  const present = async (tenantId: string) => (await readMaskedKeys(services.db, tenantId)).checkoutKey

  app.get('/settings/checkout-key', manage, async (request, reply) => {
    const checkoutKey = await present(principalOf(request).tenantId)
    return show(reply, {
      title: 'Checkout key',
      nav: 'settings',
      content: ({ token }) => checkoutKeyView(token, checkoutKey),
    })
  })

  app.post('/settings/checkout-key', manageForm, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { replaces } = formOf(CheckoutForm, request)
    if (replaces !== ((await present(tenantId))?.issuedAt ?? 'none')) {
      const text =
        'A new checkout key was created in the meantime and is shown only once. If it is lost, create another.'
      request.session.notice = { kind: 'wrong', text }
      return reply.redirect(path, 303)
    }
    const { checkoutKey } = await issueCheckoutKey(services, tenantId, originOfMember(request))
    return show(reply, {
      title: 'Checkout key',
      nav: 'settings',
      content: () => madeCheckoutKeyView(checkoutKey),
    })
  })
}

const WebhookForm = z.object({
  /** Created with the form, so that sending it twice changes the settings once. */
  operation: z.string().refine((id) => isId('req', id)),
  url: line(2048),
  events: boxes.pipe(z.array(WebhookEventName)),
  rotate: boxes,
})
const RemoveForm = z.object({ operation: z.string().refine((id) => isId('req', id)) })

function webhookPages(app: FastifyInstance, { services, show }: PageContext): void {
  const form = async (
    request: FastifyRequest,
    reply: FastifyReply,
    given?: { url: string; events: WebhookEventName[] },
    problem?: string,
  ) => {
    const { endpoint } = await findWebhook(services.db, principalOf(request).tenantId)
    const shown = {
      url: endpoint?.url ?? '',
      events: [...(endpoint?.events ?? WebhookEventName.options)],
      ...given,
    }
    return show(
      reply,
      {
        title: 'Webhook',
        nav: 'settings',
        content: ({ token }) =>
          webhookFormView({ token, operation: newId('req'), ...shown, exists: endpoint !== null, problem }),
      },
      problem ? 422 : 200,
    )
  }

  /** Executes an operation with the same rules as an approved API request. */
  const run = async (request: FastifyRequest, operation: string, body: object) => {
    const { tenantId } = principalOf(request)
    const input = { parameters: {}, query: {}, body }
    await setWebhook.check(services, tenantId, input)
    return setWebhook.run(services, tenantId, input, { id: operation, origin: originOfMember(request) })
  }

  app.get('/settings/webhook', manage, (request, reply) => form(request, reply))

  app.post('/settings/webhook', manageForm, async (request, reply) => {
    const { operation, url, events, rotate } = formOf(WebhookForm, request)
    if (!/^https?:\/\/\S+$/.test(url) || !URL.canParse(url))
      return form(request, reply, { url, events }, 'Enter a valid URL that starts with https://.')
    if (events.length === 0) return form(request, reply, { url, events }, 'Choose at least one event.')
    try {
      const { secret } = await run(request, operation, { url, events, rotateSecret: rotate.length > 0 })
      if (secret !== undefined) {
        return show(reply, {
          title: 'Webhook',
          nav: 'settings',
          content: () => madeWebhookView(url, secret),
        })
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return form(request, reply, { url, events }, `${problemOfRefusal(error.code).message}.`)
    }
    return done(request, reply, 'Webhook saved.')
  })

  app.post('/settings/webhook/remove', manageForm, async (request, reply) => {
    await run(request, formOf(RemoveForm, request).operation, { url: null })
    return done(request, reply, 'Webhook removed.')
  })
}

function done(request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
  request.session.notice = { kind: 'done', text }
  return reply.redirect(path, 303)
}
