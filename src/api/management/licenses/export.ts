import { z } from 'zod'
import { exportLicenses } from '../../../gate/operations/export-licenses.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { sendExport } from '../../../http/licenses/license-export.ts'
import { errors } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { refuseAllButGet } from '../../../http/wrong-method.ts'

export function licenseExportRoutes(app: ZodApp, ports: ApprovalPorts): void {
  refuseAllButGet(app, exportLicenses.path)
  gatedRoute(app, ports, exportLicenses, {
    operationId: 'exportLicenses',
    tags: ['Licenses'],
    summary: 'Export licenses as JSON lines or CSV, newest first; keys are masked',
    description:
      'Streams any number of licenses. An interrupted response ends without its last chunk and still uses up its ' +
      'confirmation. In CSV, lists are separated by spaces; metadata, entitlement values and a waiting term are JSON; and text ' +
      'that a spreadsheet would read as a formula is prefixed with an apostrophe.',
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
    reply: (result, { reply }) => sendExport(reply, result),
  })
}
