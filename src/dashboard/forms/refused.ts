import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { problemOfProvider } from '../../http/errors.ts'
import { Problem, problemOfRefusal } from '../../http/problem.ts'
import { sentence } from '../../sentence.ts'
import { type FilledForm, newForm, withProblem } from './filled-form.ts'
import { SentBefore, sentBefore } from './once.ts'

/** A refusal as a sentence for people. */
export const sentenceOf = (code: RefusalCode): string => sentence(problemOfRefusal(code).message)

/** What a provider refused, or that it does not answer, as a sentence for people. */
export const sentenceOfProvider = (error: Parameters<typeof problemOfProvider>[0]): string =>
  sentence(problemOfProvider(error).message)

/**
 * The form with what a command refused, to be shown again.
 * @param fieldOf the field that each refusal concerns; others concern the whole form
 * @throws the error itself when it is no refusal, or says that something does not exist
 */
export function refusedForm(
  error: unknown,
  form: FilledForm,
  fieldOf: Partial<Record<RefusalCode, readonly [field: string, sentence: string]>> = {},
): FilledForm {
  if (error instanceof SentBefore) return withProblem(form, 'form', sentBefore)
  if (!(error instanceof Refusal)) throw error
  const [field, sentence] = fieldOf[error.code] ?? ['form', sentenceOf(error.code)]
  if (field === 'form' && problemOfRefusal(error.code).status === 404) throw error
  return withProblem(newForm(form.typed as Record<string, string[]>), field, sentence)
}

/** @throws Problem 403: a suspended workspace issues nothing */
export function refuseSuspended({ tenantStatus }: { tenantStatus: string }): void {
  if (tenantStatus === 'suspended')
    throw new Problem(403, 'forbidden', 'This workspace is suspended. It cannot issue licenses.')
}
