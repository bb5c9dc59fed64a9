/**
 * De-duplicates questions by key: for each, the index of the first one with the same key. Questions of one moment are often
 * about the same token or product, which is looked up for the first of them and holds for the others.
 */
export function firstByKey<Question>(
  questions: readonly Question[],
  keyOf: (question: Question) => string,
): number[] {
  const first = new Map<string, number>()
  return questions.map((question, index) => {
    const key = keyOf(question)
    const firstIndex = first.get(key) ?? index
    first.set(key, firstIndex)
    return firstIndex
  })
}
