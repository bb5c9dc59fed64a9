import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { decideForApp, findWaitingApp, type WaitingApp } from '../../access/browser-activations.ts'
import { shownUserCode, userCodeLetters } from '../../access/device-codes.ts'
import { type PortalContext, page } from '../context.ts'
import { message, showPage } from '../page.ts'
import { scannedIn } from '../scanned.ts'
import { tooMany } from '../sign-in/too-many.ts'
import { type Customer, type Visit, visitOf } from '../visit.ts'
import { choicesFor } from './choices.ts'
import { chooseView, codeView } from './view.ts'

const CodeForm = z.object({ code: z.string().max(40).catch('') })
const ChooseForm = CodeForm.extend({ license: z.string().max(100).optional().catch(undefined) })

/** How often a person may enter codes: there are 20^8, and none waits for longer than ten minutes. */
const entering = { burst: 20, intervalMs: 60_000 }

type Found = { visit: Visit; customer: Customer; code: string; app: WaitingApp; product: PresentProduct }

/** A person chooses a license for an app that waits on one of their devices, by the code that it shows. */
export function activatePages(app: FastifyInstance, { ports, cookies }: PortalContext): void {
  const path = '/:tenantId/activate-app'
  const scanned = scannedIn(cookies)

  const codePage = (reply: FastifyReply, visit: Visit, typed: { code: string; wrong: boolean }) =>
    showPage(
      reply,
      visit,
      { title: visit.say('activateTitle'), content: codeView(visit, typed) },
      typed.wrong ? 422 : 200,
    )

  /** @returns undefined if a reply has been sent: the visitor is not signed in, or no app is waiting with this code */
  async function found(request: FastifyRequest, reply: FastifyReply): Promise<Found | undefined> {
    const visit = visitOf(request)
    const { tenantId, customer, home } = visit
    if (!customer) {
      await reply.redirect(`${home}/sign-in`, 303)
      return undefined
    }
    const { code } = CodeForm.parse(request.body ?? {})
    const bucket = `portal activate ${customer.subjectId}`
    const taken = await ports.attempts.take([{ bucket, allowance: entering }])
    if (!taken.allowed) {
      await tooMany(reply, visit, taken.retryAfterSeconds)
      return undefined
    }
    const letters = userCodeLetters(code)
    const waiting =
      letters && (await findWaitingApp(ports.db, ports.fingerprint, tenantId, letters, ports.now()))
    const product = waiting && (await ports.findProduct(tenantId, waiting.productId))
    if (!product) {
      await codePage(reply, visit, { code, wrong: true })
      return undefined
    }
    return { visit, customer, code: shownUserCode(letters), app: waiting, product }
  }

  // The address that an app opens.
  app.get(path, page, async (request, reply) => {
    const visit = visitOf(request)
    const { code } = CodeForm.parse(request.query)
    if (visit.customer) return codePage(reply, visit, { code, wrong: false })
    scanned.keep(reply, visit, code)
    return reply.redirect(`${visit.home}/sign-in`, 303)
  })

  app.post(path, page, async (request, reply) => {
    const waiting = await found(request, reply)
    if (!waiting) return reply
    const { visit, customer, product } = waiting
    const choices = await choicesFor(ports, product, customer)
    const content = chooseView(visit, { ...waiting, choices })
    return showPage(reply, visit, { title: visit.say('activateTitle'), content })
  })

  app.post(`${path}/choose`, page, async (request, reply) => {
    const waiting = await found(request, reply)
    if (!waiting) return reply
    const { visit, customer, code, app: asking, product } = waiting
    const { license } = ChooseForm.parse(request.body ?? {})
    const choices = await choicesFor(ports, product, customer)
    const choice = choices.find(({ chosen }) => chosen.licenseId === license)
    const isDecided =
      (choice !== undefined || license === undefined) &&
      (await decideForApp(ports.db, asking, choice?.chosen, ports.now()))
    if (!isDecided) return codePage(reply, visit, { code, wrong: true })
    const title = visit.say('activateTitle')
    const said = visit.say(choice ? 'activateDone' : 'activateDenied', { device: asking.deviceName })
    return showPage(reply, visit, { title, content: message(title, said) })
  })
}
