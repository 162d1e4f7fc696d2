/** Names the tests that passed at the second try only: none of them may stay so. */
export default class SecondTries {
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky)
      console.log(`passed only at the second try: ${test.module.relativeModuleId} > ${test.fullName}`)
  }
}
