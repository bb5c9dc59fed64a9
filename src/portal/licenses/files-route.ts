import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { listLicensesOfPerson } from '../../../projections/licenses/of-person.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { isMadeFor, issueFile, type MadeFile, releaseFile } from '../../commands/devices/files.ts'
import type { PortalTextKey } from '../../domain/portal/texts.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { notFound } from '../../http/problem.ts'
import { maxStatementLength, readRelease } from '../../signing/device-statements.ts'
import { type PortalContext, page } from '../context.ts'
import { showPage } from '../page.ts'
import { scannedIn } from '../scanned.ts'
import { tooMany } from '../sign-in/route.ts'
import { originOfCustomer, type Visit, visitOf } from '../visit.ts'
import { fileFormView, fileView } from './files-view.ts'
import { type FoundLicense, type LicenseRequest, licenseOf } from './route.ts'
import { licenseDetails } from './shown.ts'

const statement = z.string().trim().max(maxStatementLength).catch('')
const Text = z.object({ request: statement })

/** Each file is an event of the license. */
const asking = { burst: 20, intervalMs: 5 * 60_000 }

/** As many licenses of a person as a request may be for. */
const mostLicenses = 100

const problems: Partial<Record<RefusalCode, PortalTextKey>> = {
  file_request_unreadable: 'fileWrong',
  file_release_unreadable: 'fileWrong',
  file_request_of_another_license: 'fileOther',
  file_not_found: 'fileOther',
  device_not_found: 'fileOther',
  file_request_outdated: 'fileOld',
  file_release_outdated: 'fileOld',
  file_limit_reached: 'fileSpent',
  seat_limit_reached: 'fileFull',
}

/** A person gets license files for machines without a network, and gives them back, where the product allows it. */
export function fileRoutes(app: FastifyInstance, { ports, cookies }: PortalContext): void {
  const scanned = scannedIn(cookies)
  /** Leads a visitor to the sign-in page, and from there back to the text that they came with. */
  const signInFirst = (reply: FastifyReply, visit: Visit, text: string) => {
    scanned.keep(reply, visit, text)
    return reply.redirect(`${visit.home}/sign-in`, 303)
  }
  /** @throws Problem 404 where the page offers no files */
  const offered = async (request: LicenseRequest, reply: FastifyReply) => {
    const found = await licenseOf(ports, request, reply)
    if (!found) return undefined
    const details = await licenseDetails(ports, found.entry, found.customer)
    if (!details.mayGetFiles) throw notFound('page')
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
      { title: visit.say('fileTitle'), content: fileFormView(visit, entry.license.licenseId, typed) },
      typed.problem ? 422 : 200,
    )

  // The address in the QR code of a request or release: a phone opens it, and pastes nothing.
  app.get('/:tenantId/file', page, async (request, reply) => {
    const visit = visitOf(request)
    const { request: text } = Text.parse(request.query)
    if (!visit.customer) return signInFirst(reply, visit, text)
    const person = { tenantId: visit.tenantId, subjectId: visit.customer.subjectId }
    const { entries } = await listLicensesOfPerson(ports.db, person, {
      after: undefined,
      limit: mostLicenses,
    })
    const entry = await firstMadeFor(ports, entries, text)
    if (entry) {
      const query = new URLSearchParams({ request: text })
      return reply.redirect(`${visit.home}/licenses/${entry.license.licenseId}/file?${query}`, 303)
    }
    const title = visit.say('fileTitle')
    return showPage(
      reply,
      visit,
      { title, content: null, notice: { kind: 'wrong', text: 'fileNowhere' } },
      404,
    )
  })

  app.get('/:tenantId/licenses/:id/file', page, async (request: LicenseRequest, reply) => {
    const visit = visitOf(request)
    const { request: text } = Text.parse(request.query)
    if (!visit.customer) return signInFirst(reply, visit, text)
    const found = await offered(request, reply)
    return found ? form(reply, found, { text }) : reply
  })

  app.post('/:tenantId/licenses/:id/file', page, async (request: LicenseRequest, reply) => {
    const found = await offered(request, reply)
    if (!found) return reply
    const { visit, entry, customer } = found
    const { request: text } = Text.parse(request.body ?? {})
    const { licenseId } = entry.license
    const taken = await ports.attempts.take([{ bucket: `portal file ${licenseId}`, allowance: asking }])
    if (!taken.allowed) return tooMany(reply, visit, taken.retryAfterSeconds)
    try {
      const made = await answered(ports, entry, text, originOfCustomer(request, customer))
      if (!made) return reply.redirect(`${visit.home}/licenses/${licenseId}?done=fileReleased`, 303)
      return showPage(reply, visit, {
        title: visit.say('fileTitle'),
        content: fileView(visit, licenseId, made),
      })
    } catch (error) {
      const problem = error instanceof Refusal ? (problems[error.code] ?? 'notPossible') : undefined
      if (!problem) throw error
      return form(reply, found, { text, problem })
    }
  })
}

/** The license that a device made a text for; undefined for none of them. */
async function firstMadeFor(
  ports: PortalContext['ports'],
  entries: readonly LicenseEntry[],
  text: string,
): Promise<LicenseEntry | undefined> {
  for (const entry of entries) if (await isMadeFor(ports, entry, text)) return entry
  return undefined
}

/** @returns undefined for a release, which only frees the seat */
async function answered(
  ports: PortalContext['ports'],
  { license }: LicenseEntry,
  text: string,
  origin: ReturnType<typeof originOfCustomer>,
): Promise<MadeFile | undefined> {
  const { tenantId, licenseId } = license
  if (readRelease(text, license)) {
    await releaseFile(ports, { tenantId, licenseId, release: text }, origin)
    return undefined
  }
  return issueFile(ports, { tenantId, licenseId, request: text }, origin)
}
