/**
 * For each question the index of the first one of the same name. Of questions of one moment most are about the same in part,
 * which is looked up for the first of them and holds for the others.
 */
export function leadersOf<Question>(
  questions: readonly Question[],
  nameOf: (question: Question) => string,
): number[] {
  const first = new Map<string, number>()
  return questions.map((question, index) => {
    const name = nameOf(question)
    const leader = first.get(name) ?? index
    first.set(name, leader)
    return leader
  })
}
