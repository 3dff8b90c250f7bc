import { describeSchedules } from './simulate.js'

/** Seeds that once failed, for good. */
describeSchedules(0, [4, 16, 35, 204, 6165])
