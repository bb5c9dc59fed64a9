import type { FastifyInstance } from 'fastify'
import { invalid } from '../../http/problem.ts'

/** Larger files are refused with a sentence; still larger ones with the connection. */
const maxUpload = 1_048_576

/** Parses the forms of an application that have a file: each field as text, and the file as its bytes. */
export function readUploads(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: maxUpload },
    async (request: { headers: { 'content-type'?: string | undefined } }, body: Buffer) => {
      const headers = { 'content-type': request.headers['content-type'] ?? '' }
      const form = await new Response(Uint8Array.from(body), { headers }).formData().catch(() => {
        throw invalid('The form could not be read. Go back, reload the page and try again.')
      })
      const fields: Record<string, string | Uint8Array> = {}
      for (const [name, value] of form)
        fields[name] = typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer())
      return fields
    },
  )
}
