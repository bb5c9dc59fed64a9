import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { z } from 'zod'
import type { OpenedLicense } from '../../commands/licenses/pages.ts'
import type { LicenseExport } from '../../gate/operations/export-licenses.ts'
import { csvLine } from '../csv.ts'
import { exportColumns } from './export-columns.ts'
import { type licenseOut, licenseView } from './license.ts'

type License = z.infer<typeof licenseOut>

const formats = {
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    head: '',
    line: (license: License) => `${JSON.stringify(license)}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: csvLine(Object.keys(exportColumns)),
    line: (license: License) => csvLine(Object.values(exportColumns).map((cell) => cell(license))),
  },
} as const

/** Streams the export as a file, as fast as it is read. */
export function sendExport(reply: FastifyReply, result: LicenseExport): FastifyReply {
  const { format, now } = result
  const name = `licenses-${now.slice(0, 10)}.${format}`
  return reply
    .type(formats[format].contentType)
    .headers({
      'content-disposition': `attachment; filename="${name}"`,
    })
    .send(Readable.from(linesOf(result), { objectMode: false }))
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
