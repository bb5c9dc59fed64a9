import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { ApiAnswer } from './api.ts'

const Pending = z.object({ confirmation: z.looseObject({ id: z.string(), approveUrl: z.string() }) })
const Refused = z.union([
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
])

/**
 * @param idempotencyKey of the call, if it has one
 * @returns what an agent reads: the answer as JSON, an approval to wait for, or why the call was refused
 */
export function resultOf(answer: ApiAnswer, idempotencyKey?: string): CallToolResult {
  if (answer.status === 202) {
    const pending = Pending.safeParse(answer.body)
    if (pending.success) return approvalResult(pending.data.confirmation)
  }
  if (answer.status >= 400) return refusalResult(answer, idempotencyKey)
  return { content: [text(JSON.stringify(answer.body ?? {}))], ...structured(answer.body) }
}

function approvalResult(confirmation: z.infer<typeof Pending>['confirmation']): CallToolResult {
  return {
    content: [
      text(
        `Nothing was changed yet: a person must approve this at ${confirmation.approveUrl}. Give them the address, ask ` +
          `check_approval with confirmationId ${confirmation.id}, and once it is approved repeat this call with exactly ` +
          'the same arguments and that confirmationId.',
      ),
    ],
    structuredContent: { approval: confirmation },
  }
}

function refusalResult(
  { status, body, retryAfter, errorCode }: ApiAnswer,
  key: string | undefined,
): CallToolResult {
  const why = Refused.safeParse(body).data ?? 'the server did not say why'
  const wait = retryAfter === undefined ? '' : `. Repeat it after ${String(retryAfter)} s`
  const again = status < 500 || key === undefined ? '' : `. Repeat it with the idempotencyKey ${key}`
  const code = errorCode === undefined ? '' : `, ${errorCode}`
  return refused(`Refused (${String(status)}${code}): ${why}${wait}${again}`)
}

/** What an agent reads when its call was not done. */
export const refused = (why: string): CallToolResult => ({ isError: true, content: [text(why)] })

const text = (content: string) => ({ type: 'text' as const, text: content })

const structured = (body: unknown): Pick<CallToolResult, 'structuredContent'> => {
  const object = z.record(z.string(), z.unknown()).safeParse(body)
  return object.success ? { structuredContent: object.data } : {}
}
