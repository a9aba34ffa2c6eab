"""The command line: thin; it reads what is asked, calls `app` and shows what comes back."""
