import type { FastifyInstance, FastifyRequest } from 'fastify'
import { htmlAsPage } from '../../domain/mails/rendering.ts'
import { notFound } from '../../http/problem.ts'
import type { KeptMail } from '../../mail/mailbox.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { sendMailHtml } from './shown-html.ts'
import { mailboxView, mailView } from './view.ts'

/** Mails contain license keys, so only members who may configure mail can read them. */
const manage = (auditedView: 'mail' | 'mails') => pageRoute({ page: 'manage_settings', auditedView })

const maxMails = 200

type OneRequest = FastifyRequest<{ Params: { id: string } }>

/** The mails that are stored because no mail server is configured; 404 with a mail server. */
export function mailboxPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const { mailbox } = ports.mailing

  /** @throws Problem 404 */
  const mailOf = async (request: OneRequest): Promise<KeptMail> => {
    const mail = await mailbox?.find(principalOf(request).tenantId, request.params.id)
    if (!mail) throw notFound('mail')
    return mail
  }

  app.get('/mailbox', manage('mails'), async (request, reply) => {
    if (!mailbox) throw notFound('mailbox')
    const { tenantId } = principalOf(request)
    const mails = await mailbox.list(tenantId, maxMails)
    return show(reply, {
      title: 'Mailbox',
      nav: 'mailbox',
      content: (view) => mailboxView(view, mails),
    })
  })

  app.get('/mailbox/:id', manage('mail'), async (request: OneRequest, reply) => {
    const mail = await mailOf(request)
    return show(reply, { title: mail.subject, nav: 'mailbox', content: () => mailView(mail) })
  })

  app.get('/mailbox/:id/html', manage('mail'), async (request: OneRequest, reply) => {
    const html = htmlAsPage(await mailOf(request))
    if (html === null) throw notFound('HTML of this mail')
    return sendMailHtml(reply, html)
  })
}
