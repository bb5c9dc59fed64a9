import { z } from 'zod'
import { findLicense } from '../../../../projections/licenses/queries.ts'
import { licenseStream } from '../../../domain/streams.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { notFound, Problem, unavailable } from '../../../http/problem.ts'
import { answer, errors } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { refuseAllButGet } from '../../../http/wrong-method.ts'
import { whyWithheld } from '../../../notary/withheld.ts'
import type { Ports } from '../../../ports.ts'
import { receiptOut } from '../../receipt.ts'
import { requireLicenseId } from './licenses.ts'

const path = '/v1/licenses/:id/receipt'

export function receiptRoute(app: ZodApp, ports: Ports<'db' | 'receipts'>): void {
  refuseAllButGet(app, path)
  app.get(
    path,
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'getReceipt',
        tags: ['Licenses'],
        summary: 'Prove that a license is in the log',
        description:
          'The event that minted or imported the license, and a proof that it is in the signed log. `keyledger verify receipt` checks ' +
          'it with the public key alone. For a license of the last seconds, the answer waits for the next checkpoint, and is 503 ' +
          'when none comes within two seconds. A license that was imported before keys were hashed with a secret has no receipt: ' +
          'its record would let its key be guessed.',
        params: z.strictObject({ id: z.string() }),
        response: { 200: answer('The receipt', receiptOut), ...errors(403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const found = await findLicense(ports.db, tenantId, licenseId)
      if (!found) throw notFound('license')
      const receipt = await ports.receipts.waitFor({ stream: licenseStream(licenseId), revision: 0 })
      if (receipt === 'withheld')
        throw new Problem(404, 'invalid_request', `this license has no receipt: ${whyWithheld}`)
      if (!receipt) throw unavailable('no checkpoint covers this license yet; try again', 2)
      return receipt
    },
  )
}
