import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findWordings } from '../../../projections/wordings.ts'
import { connectMailSender, disconnectMailSender } from '../../commands/mail-senders.ts'
import { newId } from '../../credentials/id.ts'
import { MailSender, senderKeyProblem } from '../../domain/mails/senders.ts'
import { bounceUrlOf } from '../../mail/bounces/address.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { given } from '../forms/typed.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { OperationForm } from '../webhooks/form.ts'
import { senderAddressView, senderView } from './sender-view.ts'
import { senderPath, settings } from './view.ts'

const manage = pageRoute({ page: 'manage_connections' })
const path = '/settings/mails/sender'

const SenderForm = z
  .object({
    ...OperationForm.shape,
    sender: MailSender,
    key: given.transform((key) => (key === '' ? null : key)),
  })
  .superRefine(({ sender, key }, context) => {
    const message = senderKeyProblem(sender, key)
    if (message !== undefined)
      context.addIssue({ code: 'custom', path: ['key'], message: `This ${message}.` })
  })

/** Connects the service that tells of bounces. */
export function mailSenderPages(app: FastifyInstance, { ports, show, baseUrl }: PageContext): void {
  const page = async (request: FastifyRequest, reply: FastifyReply, form: FilledForm) => {
    const { sender } = await findWordings(ports.db, principalOf(request).tenantId)
    return show(reply, {
      title: 'Bounces',
      nav: 'settings',
      trail: [settings],
      content: (view) => senderView(view, sender, form, newId('req')),
      form,
    })
  }

  app.get(path, manage, (request, reply) => page(request, reply, newForm()))

  app.post(path, manage, async (request, reply) => {
    const { filled, data } = readForm(SenderForm, request)
    if (!data) return page(request, reply, { ...filled, typed: { ...filled.typed, key: [''] } })
    const { tenantId } = principalOf(request)
    const { operation, ...input } = data
    const { token } = await connectMailSender(ports, tenantId, input, operation, originOfMember(request))
    return show(reply, {
      title: 'Address for bounces',
      nav: 'settings',
      trail: [settings],
      content: () => senderAddressView(input.sender, bounceUrlOf(baseUrl, tenantId, token)),
    })
  })

  app.post(`${path}/disconnect`, manage, async (request, reply) => {
    await disconnectMailSender(ports, principalOf(request).tenantId, originOfMember(request))
    return redirectWith(reply, senderPath, 'Disconnected.')
  })
}
