/* cash_command.h - cash, accounts and their parts, and the operator's work on them: rows of
 * command.h's table. */
#ifndef PERP_CASH_COMMAND_H
#define PERP_CASH_COMMAND_H

/* clang-format off */
#define FLAGS_EITHER   (FLAGS_SIGNED | FLAG(account) | FLAG(signer) | FLAG(session_key) | FLAG(master_key))
#define FLAGS_OPERATOR (FLAGS_SIGNED | FLAG(operator_key))
#define FLAGS_PLAIN    (FLAG(api_key) | FLAG(subaccount) | FLAG(portfolio))

/*    words, handler, positionals, flags, summary, text */
#define CASH_COMMAND_LIST(X) \
    X("transfer", command_cash_transfer, "AMOUNT FROM TO", FLAGS_EITHER, \
      "move cash between portfolios of an account", \
      "FROM and TO are SUBACCOUNT/PORTFOLIO, as 0/0 and 0/1. Signed by a FULL_ACCESS session, or\n" \
      "with --signer master.") \
    X("withdraw", command_cash_withdraw, "AMOUNT ADDRESS", \
      FLAGS_EITHER | FLAG(subaccount) | FLAG(portfolio), \
      "send cash out of the exchange", \
      "At least 1 USDC, to an EVM address. It is debited at once and pending until the operator\n" \
      "settles or reverts it. Signed as 'perp transfer'.") \
    X("faucet", command_cash_faucet, "AMOUNT", FLAGS_PLAIN, \
      "USDC of a test exchange", "Needs an API key of scope READ_WRITE.") \
    X("account close", command_place_close_account, "", FLAGS_MASTER, \
      "close an account for ever", \
      "Every subaccount must be CLOSED. Sessions and API keys end with it.") \
    X("subaccount create", command_place_subaccount, "", FLAGS_MASTER, \
      "another subaccount, with a portfolio 0", "") \
    X("subaccount close", command_place_close_subaccount, "INDEX", FLAGS_MASTER, \
      "close a subaccount", "Every portfolio of it must be CLOSED, and no withdrawal pending.") \
    X("portfolio create", command_place_portfolio, "[NAME]", FLAGS_EITHER | FLAG(subaccount), \
      "another portfolio in a subaccount", "Without NAME: Portfolio N.") \
    X("portfolio close", command_place_close, "", FLAGS_PLAIN, \
      "close an empty portfolio", "Needs an API key of scope READ_WRITE.") \
    X("portfolio reopen", command_place_reopen, "", FLAGS_PLAIN, \
      "open a closed portfolio again", "Needs an API key of scope READ_WRITE.") \
    X("portfolio rename", command_place_rename, "NAME", FLAGS_PLAIN, \
      "give a portfolio another name", "Needs an API key of scope READ_WRITE.") \
    X("withdrawal settle", command_operator_settle, "WITHDRAWAL_ID", FLAGS_OPERATOR, \
      "say that a withdrawal was paid (operator)", "") \
    X("withdrawal revert", command_operator_revert, "WITHDRAWAL_ID", FLAGS_OPERATOR, \
      "give a withdrawal back to its portfolio (operator)", "") \
    X("suspend", command_operator_suspend, "ACCOUNT", FLAGS_OPERATOR, \
      "let an account cancel and nothing else (operator)", "") \
    X("resume", command_operator_resume, "ACCOUNT", FLAGS_OPERATOR, \
      "end the suspension of an account (operator)", "") \
    X("fund top-up", command_operator_top_up, "AMOUNT", FLAGS_OPERATOR, \
      "add to the insurance fund (operator)", "") \
    X("fee-tier", command_operator_tier, "ACCOUNT TIER", FLAGS_OPERATOR, \
      "fix the fee tier of an account (operator)", "TIER is 0 to 5, or volume: back to its volume's.") \
    X("operator cancel", command_operator_cancel, "WHOSE [MARKET] [ORDER_ID]", FLAGS_OPERATOR, \
      "cancel orders of an account (operator)", \
      "WHOSE is an account, a subaccount or a portfolio: 7, 7/0 or 7/0/1. Without MARKET in all\n" \
      "markets, without ORDER_ID every order, the waiting ones too.")
/* clang-format on */

#endif
