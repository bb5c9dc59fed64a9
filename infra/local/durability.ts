/** `full` never loses acknowledged data. `none` is for tests, which delete the store: it may lose data with the machine. */
export type Durability = 'full' | 'none'
