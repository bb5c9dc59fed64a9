import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { Effect, type Preview } from '../gate/effects/effect.ts'
import { effectWords } from '../gate/effects/words.ts'
import { problemOfRefusal } from './problem.ts'

/**
 * The type of an answer to a dry run. It is not that of the operation itself, so that clients made from the description
 * keep the type of the operation's answer.
 */
const effectType = 'application/vnd.keyledger.effect+json'

/** The query parameter that asks for a dry run. */
export const dryRunQuery = {
  dryRun: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true` answers what would change, and changes nothing' }),
}

/** Whether a validated query asks for a dry run. */
export const isDryRun = (query: unknown): boolean =>
  z.looseObject({ dryRun: z.literal('true') }).safeParse(query).success

/** What would change now. */
export const previewOut = {
  wouldBeRefused: z
    .object({
      status: z.int().meta({ description: 'The HTTP status of the refusal', example: 409 }),
      error: z
        .string()
        .meta({ description: 'What the refusal would say', example: 'the license is revoked' }),
    })
    .nullable()
    .meta({
      description: 'What the call would be refused with now; null when it would be executed',
      example: null,
    }),
  effect: Effect,
  sentences: z.array(z.string()).meta({
    description: 'The effect in words; empty when nothing would change',
    example: ['License ACME…HJ6C goes from active to suspended', '1 device loses its seat: “MacBook”'],
  }),
}

const dryRunOut = z
  .object({
    dryRun: z.literal(true).meta({ description: 'Always true: nothing was changed' }),
    ...previewOut,
  })
  .meta({ id: 'DryRun', description: 'What a call would change. Nothing was changed' })

type Described = { description?: string; content?: Record<string, object> }

/** The responses of an operation with the answer to a dry run among them. */
export function withDryRun(responses: Record<string, object>): Record<string, object> {
  const { description = 'What would change', content }: Described = responses[200] ?? {}
  const dryRun = { [effectType]: { schema: dryRunOut } }
  const answer = { ...responses[200], description: `${description}. With \`dryRun=true\`: what would change` }
  return { ...responses, 200: { ...answer, content: { ...content, ...dryRun } } }
}

/** @throws Problem 404 for a call about something that does not exist, as the call itself */
function shownPreview({ effect, refusal }: Preview): {
  wouldBeRefused: { status: number; error: string } | null
  effect: Effect
  sentences: string[]
} {
  const problem = refusal === null ? null : problemOfRefusal(refusal)
  if (problem?.status === 404) throw problem
  const wouldBeRefused = problem && { status: problem.status, error: problem.message }
  return { wouldBeRefused, effect, sentences: effectWords(effect) }
}

/** Answers a dry run. @throws Problem 404 */
export const sendDryRun = (reply: FastifyReply, preview: Preview): FastifyReply =>
  reply.type(effectType).send({ dryRun: true, ...shownPreview(preview) })
