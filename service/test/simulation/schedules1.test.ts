import { describeSchedules } from './simulate.js'

/** Seeds that once failed, for good: of one chain by itself, and of two. */
describeSchedules(0, { alone: [4, 16, 35, 204, 6165], pair: [] })
