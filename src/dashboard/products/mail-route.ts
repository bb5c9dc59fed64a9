import type { FastifyInstance, FastifyReply } from 'fastify'
import { findMail } from '../../../projections/mails.ts'
import { findLanguages, findOpenPortal } from '../../../projections/portal.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { changeMail, sendTestMail } from '../../commands/mails.ts'
import { sameJson } from '../../domain/equality.ts'
import type { ProductMail } from '../../domain/mails/mail.ts'
import { portalUrl } from '../../domain/portal/portal.ts'
import { changedMeanwhile, type FilledForm, readForm } from '../forms/filled-form.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { testMailWords } from '../mails/test-words.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { MailForm, mailForm, seenOf, settingsIn } from './mail-form.ts'
import { mailSettingsView } from './mail-view.ts'
import { aboveIn, type ProductRequest, productOf } from './product-of-page.ts'

const manage = pageRoute({ page: 'manage_products' })
const mailPath = ({ productId }: PresentProduct): string => `/dashboard/products/${productId}/mail`

/** A mail server may take longer to answer than a page. */
const testing = pageRoute({ page: 'manage_products', noRequestTimeout: true })

/** The mail that customers of a product get: its settings, and a test of them. */
export function mailPages(app: FastifyInstance, { ports, show, baseUrl }: PageContext): void {
  const { mailbox, from } = ports.mailing

  const page = async (
    request: ProductRequest,
    reply: FastifyReply,
    product: PresentProduct,
    { settings }: ProductMail,
    form: FilledForm,
  ) => {
    const [portal, languages] = await Promise.all([
      findOpenPortal(ports.db, product.tenantId),
      findLanguages(ports.db, product.tenantId),
    ])
    return show(reply, {
      title: 'Mail',
      nav: 'products',
      trail: aboveIn(product),
      content: ({ token }) =>
        mailSettingsView({
          token,
          product,
          form,
          saved: settings,
          languages,
          portalUrl: portal ? portalUrl(baseUrl, product.tenantId) : null,
          email: principalOf(request).email,
          sender: from.email,
          kept: mailbox !== undefined,
        }),
      form,
    })
  }

  app.get('/products/:id/mail', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const mail = await findMail(ports.db, product.tenantId, product.productId)
    return page(request, reply, product, mail, mailForm(mail))
  })

  app.post('/products/:id/mail', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const { filled, data } = readForm(MailForm, request)
    const now = await findMail(ports.db, product.tenantId, product.productId)
    if (!data) return page(request, reply, product, now, filled)
    const settings = settingsIn(data)
    if (data.seen !== seenOf(now) && !sameJson(settings, now.settings))
      return page(
        request,
        reply,
        product,
        now,
        changedMeanwhile(filled, 'The mail settings were', seenOf(now)),
      )
    try {
      await changeMail(ports, product, settings, originOfMember(request))
    } catch (error) {
      return page(request, reply, product, now, refusedForm(error, filled))
    }
    return redirectWith(reply, mailPath(product), 'Mail settings saved.')
  })

  app.post('/products/:id/mail/test', testing, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const { memberId } = principalOf(request)
    const tested = await sendTestMail(
      ports,
      { product, kind: 'key', language: null },
      memberId,
      originOfMember(request),
      baseUrl,
    )
    return redirectWith(reply, mailPath(product), testMailWords(tested))
  })
}
