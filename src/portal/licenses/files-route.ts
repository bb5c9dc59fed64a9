import type { FastifyInstance, FastifyReply } from 'fastify'
import { listLicensesOfPerson } from '../../../projections/licenses/of-person.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { isMadeFor, issueFile, releaseFile } from '../../commands/devices/files.ts'
import { maxStatementLength, readRelease } from '../../signing/device-statements.ts'
import { type PortalContext, page } from '../context.ts'
import { showPage } from '../page.ts'
import { scannedIn } from '../scanned.ts'
import { type Visit, visitOf } from '../visit.ts'
import { carriedPage } from './carried-route.ts'
import { fileFormView, fileView } from './files-view.ts'
import type { LicenseRequest } from './route.ts'

/** As many licenses of a person as a request may be for. */
const mostLicenses = 100

/** A person gets license files for machines without a network, and gives them back, where the product allows it. */
export function fileRoutes(app: FastifyInstance, context: PortalContext): void {
  const { ports, cookies } = context
  const { textIn, ask, answer } = carriedPage(context, {
    name: 'file',
    title: 'fileTitle',
    released: 'fileReleased',
    maxLength: maxStatementLength,
    isOffered: ({ mayGetFiles }) => mayGetFiles,
    view: fileFormView,
    problems: {
      file_request_unreadable: 'fileWrong',
      file_release_unreadable: 'fileWrong',
      file_request_of_another_license: 'fileOther',
      file_not_found: 'fileOther',
      device_not_found: 'fileOther',
      file_request_outdated: 'fileOld',
      file_release_outdated: 'fileOld',
      file_limit_reached: 'fileSpent',
      seat_limit_reached: 'fileFull',
    },
  })
  const path = '/:tenantId/licenses/:id/file'
  const scanned = scannedIn(cookies)
  /** Leads a visitor to the sign-in page, and from there back to the text that they came with. */
  const signInFirst = (reply: FastifyReply, visit: Visit, text: string) => {
    scanned.keep(reply, visit, text)
    return reply.redirect(`${visit.home}/sign-in`, 303)
  }

  // The address in the QR code of a request or release: a phone opens it, and pastes nothing.
  app.get('/:tenantId/file', page, async (request, reply) => {
    const visit = visitOf(request)
    const text = textIn(request.query)
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

  app.get(path, page, async (request: LicenseRequest, reply) => {
    const visit = visitOf(request)
    const text = textIn(request.query)
    return visit.customer ? ask(request, reply, text) : signInFirst(reply, visit, text)
  })

  app.post(path, page, (request: LicenseRequest, reply) =>
    answer(request, reply, async ({ visit, entry }, text, origin) => {
      const { tenantId, licenseId } = entry.license
      if (readRelease(text, entry.license)) {
        await releaseFile(ports, { tenantId, licenseId, release: text }, origin)
        return undefined
      }
      return fileView(
        visit,
        licenseId,
        await issueFile(ports, { tenantId, licenseId, request: text }, origin),
      )
    }),
  )
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
