"""For the tests of platforms of others: the laws of a platform and of its session. Needs `railfab[testing]`."""

import pytest

pytest.register_assert_rewrite("railfab.testing.platforms", "railfab.testing.sessions")
