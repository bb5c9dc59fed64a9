import type { IncomingMessage } from 'node:http'
import { invalid } from '../../http/problem.ts'
import { readText } from '../http/request.ts'

/** The fields of a form that was sent. Absent ones are empty. */
export type SentForm = { text: (name: string) => string; file: (name: string) => Promise<string> }

/** Reads a form, with or without a file. @throws Problem 400 */
export async function formIn(request: IncomingMessage): Promise<SentForm> {
  const type = request.headers['content-type'] ?? ''
  const body = await readText(request)
  const fields = type.startsWith('multipart/form-data')
    ? await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => undefined)
    : new URLSearchParams(body)
  if (!fields) throw invalid('the form cannot be read; send it again')
  return {
    text(name) {
      const sent = fields.get(name)
      return typeof sent === 'string' ? sent : ''
    },
    async file(name) {
      const sent = fields.get(name)
      return sent === null || typeof sent === 'string' ? (sent ?? '') : sent.text()
    },
  }
}
