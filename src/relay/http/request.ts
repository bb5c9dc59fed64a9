import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { readBody } from '../../bare-http/server.ts'
import { inputWords, sentenceOf } from '../../domain/input-words.ts'
import { bodyNotJson, bodyOfOtherType, bodyTooLarge, invalid } from '../../http/problem.ts'

/** The largest body of a call or a form; an answer of the vendor has a few kilobytes. */
const maxBytes = 256 * 1024

/** Reads a body as text. @throws Problem 400 for one that is too large or no UTF-8 */
export async function readText(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, maxBytes)
  if (!body) throw invalid(bodyTooLarge)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw invalid(bodyNotJson)
  }
}

/** Reads a body by its schema, with the messages of the server. @throws Problem 400 */
export async function readJson<S extends z.ZodType>(
  request: IncomingMessage,
  schema: S,
): Promise<z.output<S>> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw invalid(bodyOfOtherType)
  const { data, error } = schema.safeParse(parsed(await readText(request)), { error: inputWords })
  if (error) throw invalid(sentenceOf(error, 'the body'))
  return data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(bodyNotJson)
  }
}
