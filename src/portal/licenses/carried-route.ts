import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { PortalTextKey } from '../../domain/portal/texts.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import type { Html } from '../../html.ts'
import { notFound } from '../../http/problem.ts'
import type { PortalContext } from '../context.ts'
import { showPage } from '../page.ts'
import { tooMany } from '../sign-in/too-many.ts'
import { originOfCustomer, type Visit } from '../visit.ts'
import { type FoundLicense, type LicenseRequest, licenseOf } from './route.ts'
import { type LicenseDetails, licenseDetails } from './shown.ts'

/** A page that takes a text which was carried here, and answers it with another one. */
type CarriedPage = {
  /** The last part of its address. */
  name: 'file' | 'relay'
  title: PortalTextKey
  /** Said on the page of the license after the text gave something back. */
  released: PortalTextKey
  maxLength: number
  isOffered: (details: LicenseDetails) => boolean
  view: (visit: Visit, licenseId: string, typed: { text: string; problem?: PortalTextKey }) => Html
  /** What a refusal says to the person. */
  problems: Partial<Record<RefusalCode, PortalTextKey>>
}

/** Each answer is an event of the license. */
const asking = { burst: 20, intervalMs: 5 * 60_000 }

export function carriedPage(
  { ports }: PortalContext,
  { name, title, released, maxLength, isOffered, view, problems }: CarriedPage,
) {
  const Text = z.object({ request: z.string().trim().max(maxLength).catch('') })
  const textIn = (values: unknown): string => Text.parse(values ?? {}).request

  /** @throws Problem 404 for a license with which this is not offered */
  async function offered(request: LicenseRequest, reply: FastifyReply): Promise<FoundLicense | undefined> {
    const found = await licenseOf(ports, request, reply)
    if (!found) return undefined
    if (!isOffered(await licenseDetails(ports, found.entry, found.customer))) throw notFound('page')
    return found
  }

  const form = (
    reply: FastifyReply,
    { visit, entry }: FoundLicense,
    typed: { text: string; problem?: PortalTextKey },
  ) =>
    showPage(
      reply,
      visit,
      { title: visit.say(title), content: view(visit, entry.license.licenseId, typed) },
      typed.problem ? 422 : 200,
    )

  return {
    textIn,
    /** Shows the form with a text, where the page is offered. */
    async ask(request: LicenseRequest, reply: FastifyReply, text: string) {
      const found = await offered(request, reply)
      return found ? form(reply, found, { text }) : reply
    },
    /**
     * Answers the text that was sent.
     * @param work returns the page with the answer; undefined when the text gave something back
     */
    async answer(
      request: LicenseRequest,
      reply: FastifyReply,
      work: (
        found: FoundLicense,
        text: string,
        origin: ReturnType<typeof originOfCustomer>,
      ) => Promise<Html | undefined>,
    ) {
      const found = await offered(request, reply)
      if (!found) return reply
      const { visit, entry, customer } = found
      const { licenseId } = entry.license
      const text = textIn(request.body)
      const taken = await ports.attempts.take([{ bucket: `portal ${name} ${licenseId}`, allowance: asking }])
      if (!taken.allowed) return tooMany(reply, visit, taken.retryAfterSeconds)
      try {
        const content = await work(found, text, originOfCustomer(request, customer))
        if (!content) return reply.redirect(`${visit.home}/licenses/${licenseId}?done=${released}`, 303)
        return showPage(reply, visit, { title: visit.say(title), content })
      } catch (error) {
        const problem = error instanceof Refusal ? (problems[error.code] ?? 'notPossible') : undefined
        if (!problem) throw error
        return form(reply, found, { text, problem })
      }
    },
  }
}
