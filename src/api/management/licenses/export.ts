import { Readable } from 'node:stream'
import { z } from 'zod'
import type { OpenedLicense } from '../../../commands/licenses/pages.ts'
import { exportLicenses, type LicenseExport } from '../../../gate/operations/export-licenses.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { type Cell, csvLine } from '../../../http/csv.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { type licenseOut, licenseView } from '../../../http/license.ts'
import { errors } from '../../../http/schemas.ts'
import { refuseAllButGet } from '../../../http/wrong-method.ts'
import type { ZodApp } from '../../../http/zod-app.ts'

type License = z.infer<typeof licenseOut>

/** The columns in this order, each named after its field. Lists are separated by spaces, metadata is JSON. */
const columns: Record<string, (license: License) => Cell> = {
  id: ({ id }) => id,
  productId: ({ productId }) => productId,
  keyTypeId: ({ keyTypeId }) => keyTypeId,
  displayKey: ({ displayKey }) => displayKey,
  status: ({ status }) => status,
  quantity: ({ quantity }) => quantity,
  deviceLimit: ({ deviceLimit }) => deviceLimit,
  seatsUsed: ({ seatsUsed }) => seatsUsed,
  entitlements: ({ entitlements }) => entitlements.join(' '),
  expiresAt: ({ expiresAt }) => expiresAt,
  email: ({ email }) => email,
  customerId: ({ customerId }) => customerId,
  source: ({ source }) => source,
  saleId: ({ saleId }) => saleId,
  test: ({ test }) => test,
  metadata: ({ metadata }) => JSON.stringify(metadata),
  createdAt: ({ createdAt }) => createdAt,
  revokedAt: ({ revokedAt }) => revokedAt,
}

const formats = {
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    head: '',
    line: (license: License) => `${JSON.stringify(license)}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: csvLine(Object.keys(columns)),
    line: (license: License) => csvLine(Object.values(columns).map((cell) => cell(license))),
  },
} as const

export function licenseExportRoutes(app: ZodApp, services: ApprovalPorts): void {
  refuseAllButGet(app, exportLicenses.path)
  gatedRoute(app, services, exportLicenses, {
    operationId: 'exportLicenses',
    tags: ['Licenses'],
    summary: 'Export licenses as JSON lines or CSV, newest first; keys are masked',
    description:
      'Streams any number of licenses. An interrupted response ends without its last chunk and still uses up its ' +
      'confirmation. In CSV, lists are separated by spaces, metadata is JSON, and text that a ' +
      'spreadsheet would read as a formula is prefixed with an apostrophe.',
    streams: true,
    response: {
      200: {
        description: 'One license per line; CSV begins with a header line',
        content: {
          'application/x-ndjson': { schema: z.string() },
          'text/csv': { schema: z.string() },
        },
      },
      ...errors(404),
    },
    reply: (result, { reply }) => {
      const { format, now } = result
      const name = `licenses-${now.slice(0, 10)}.${format}`
      return reply
        .type(formats[format].contentType)
        .headers({
          'content-disposition': `attachment; filename="${name}"`,
        })
        .send(Readable.from(linesOf(result), { objectMode: false }))
    },
  })
}

/** The text of the export, one page at a time, produced as fast as the client reads it. */
async function* linesOf({ format, now, pages }: LicenseExport): AsyncIterable<string> {
  const { head, line } = formats[format]
  if (head !== '') yield head
  for await (const page of pages) yield linesOfPage(page, line, now)
}

const linesOfPage = (
  page: readonly OpenedLicense[],
  line: (license: License) => string,
  now: string,
): string => page.map(({ entry, email }) => line(licenseView(entry, { email, name: null }, now))).join('')
