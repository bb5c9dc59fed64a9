import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { inputWords, isPredicate } from '../../domain/input-words.ts'

/** A form as a member filled it in, to show again: what was typed, and what is wrong with each field. */
export type FilledForm = {
  /** By field name. Check boxes of one name have several values. */
  typed: Readonly<Record<string, readonly string[]>>
  /** One sentence for each wrong field, by its name; `form` is for what concerns no single field. */
  problems: Readonly<Record<string, string>>
  /** What to choose from when what was typed means several. */
  choices?: readonly Choice[]
}

/** One of what a typed text may mean. */
export type Choice = { id: string; words: string }

/** An empty form, with its first values. */
export const newForm = (values: Readonly<Record<string, string | readonly string[]>> = {}): FilledForm => ({
  typed: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat()])),
  problems: {},
})

/** What was typed into a field, or an empty text. */
export const typedIn = ({ typed }: FilledForm, name: string): string => typed[name]?.[0] ?? ''

export const isWrong = ({ problems }: FilledForm): boolean => Object.keys(problems).length > 0

/**
 * The form again, so that a member does not undo the change of another without having been told.
 * @param what was changed, such as `The product was`
 * @param seen the version that the member has seen once they send it again
 */
export const changedMeanwhile = (form: FilledForm, what: string, seen: string): FilledForm =>
  withProblem(
    { ...form, typed: { ...form.typed, seen: [seen] } },
    'form',
    `${what} changed since you opened this page. Check the fields: saving replaces that change.`,
  )

/** The form again, with a sentence about one of its fields; `form` concerns no single field. */
export const withProblem = (form: FilledForm, name: string, problem: string): FilledForm => ({
  ...form,
  problems: { [name]: problem, ...form.problems },
})

/**
 * Reads a form that a member fills in. What is wrong is no error: the form is shown again, with what was typed and a
 * sentence beside each wrong field.
 * @param schema an object; its messages are shown, so they say what to enter
 */
export function readForm<S extends z.ZodType>(
  schema: S,
  request: FastifyRequest,
): { filled: FilledForm; data: z.infer<S> | undefined } {
  const body = (request.body ?? {}) as Record<string, string | string[]>
  const { _csrf, ...given } = body
  const filled = newForm(given)
  const { success, data, error } = schema.safeParse(given, { error: inputWords })
  if (success) return { filled, data }
  const problems: Record<string, string> = {}
  for (const { path, message } of error.issues)
    problems[nameOf(path)] ??= isPredicate(message) ? `This ${message}.` : message
  return { filled: { ...filled, problems }, data: undefined }
}

const nameOf = (path: readonly PropertyKey[]): string => String(path[0] ?? 'form')
