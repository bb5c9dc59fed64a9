import type { FastifyInstance } from 'fastify'
import { invalid } from '../../http/problem.ts'

/** Enough for 20,000 licenses, and little enough to be sent back and forth while they are imported. */
export const maxBytes = 4 * 1_048_576

/** Reads forms with files: each field as text, and each file as the text that it holds. */
export function readUploads(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    // The results so far are sent beside the rows.
    { parseAs: 'buffer', bodyLimit: 2 * maxBytes },
    async (request: { headers: { 'content-type'?: string | undefined } }, body: Buffer) => {
      const headers = { 'content-type': request.headers['content-type'] ?? '' }
      const form = await new Response(Uint8Array.from(body), { headers }).formData().catch(() => {
        throw invalid('The form could not be read. Go back, reload the page and try again.')
      })
      const fields: Record<string, string> = {}
      for (const [name, value] of form) fields[name] = typeof value === 'string' ? value : await value.text()
      return fields
    },
  )
}
