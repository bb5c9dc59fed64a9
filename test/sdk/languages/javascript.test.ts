/** Guarantee: the client in JavaScript passes through the states of every story, over a network that delays, drops, doubles and alters answers. */
import { afterAll, beforeAll, describe } from 'vitest'
import { testStories } from './matrix.ts'
import { closeStage, openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => closeStage(stage))

describe('the client in JavaScript', () => testStories('JavaScript', () => stage))
